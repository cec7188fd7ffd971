"""MCP servers that wait for an approval, in the inbox."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from parachute.base.errors import ParachuteError
from parachute.capabilities.mcp_servers.catalog import Catalog, Listed, Review
from parachute.events.inbox.models import APPROVE, Answer, Item, Kind, Source, not_waiting


class McpServersSource(Source):
    """The inbox of MCP servers; approved here, one reaches what it was allowed before, and nothing at first."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({"mcp_server"})

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def items(self) -> Sequence[Item]:
        """Return every server of the file that is not what was approved."""
        return [item for item, _ in await asyncio.to_thread(self._waiting)]

    async def answer(self, item: Item, answer: Answer) -> None:
        """Approve a server exactly as it was shown."""
        for found, review in await asyncio.to_thread(self._waiting):
            if found.hash == item.hash and review is not None:
                await asyncio.to_thread(self._catalog.approve, review)
                return
        raise not_waiting()

    def _waiting(self) -> list[tuple[Item, Review | None]]:
        return [self._reviewed(each) for each in self._catalog.listed() if each.state == "waiting"]

    def _reviewed(self, listed: Listed) -> tuple[Item, Review | None]:
        server, before = listed.server, listed.approval
        details: dict[str, object] = {"command": server.shown, "environment": [name for name, _ in server.env]}
        review = None
        try:
            review = self._catalog.review(server.name, before.hosts if before else (), before.folders if before else ())
            details["digest"] = review.digest
            details["files"] = [{"path": str(file.path), "sha256": file.sha256} for file in review.files]
            details["hosts"], details["folders"] = list(review.hosts), list(review.folders)
        except ParachuteError as error:
            details["problem"] = str(error)
        item = Item(
            kind="mcp_server",
            key=server.name,
            title=f"MCP server {server.name}",
            source=".mcp.json",
            details=details,
            answers=(APPROVE,) if review else (),
            is_owners=True,
            command=f"parachute mcp approve {server.name}",
        )
        return item, review
