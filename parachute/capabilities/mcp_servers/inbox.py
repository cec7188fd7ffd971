"""MCP servers that wait for an approval, a login or an answer, in the inbox."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from msgspec import to_builtins

from parachute.base.errors import ParachuteError
from parachute.capabilities.mcp_servers.catalog import Listed, Review
from parachute.capabilities.mcp_servers.elicitations import Asked
from parachute.capabilities.mcp_servers.models import Runnable
from parachute.capabilities.mcp_servers.offers import Offer
from parachute.capabilities.mcp_servers.service import McpServers
from parachute.capabilities.mcp_servers.words import described
from parachute.chat.sessions.models import Session
from parachute.events.inbox.models import APPROVE, Answer, Item, Source, not_waiting

FindSession = Callable[[str], Awaitable[Session | None]]

SIGN_IN = "sign_in"
ANSWER, DECLINE = "answer", "decline"

_SHOWN = 64 * 1024
"""Characters of what a server says of its tools, above which nobody reads them."""


class McpServersSource(Source):
    """The inbox of MCP servers; approved here, one reaches what it was allowed before, and nothing at first."""

    kinds: ClassVar[frozenset[str]] = frozenset({"mcp_question", "mcp_server"})

    def __init__(self, servers: McpServers, find: FindSession) -> None:
        self._servers = servers
        self._find = find
        self._catalog = servers.catalog

    async def items(self) -> Sequence[Item]:
        """Return every server that is not what was approved, says of its tools what nobody has seen, or wants its owner to sign in."""
        waiting = [_question(each, await self._titles(each)) for each in self._servers.elicitations.waiting()]
        waiting += [item for item, _ in await asyncio.to_thread(self._waiting)]
        listed = await asyncio.to_thread(self._catalog.listed)
        waiting += [item for item, _, _ in await asyncio.to_thread(self._unseen)]
        return [*waiting, *(self._login(each.runnable) for each in listed if each.runnable and each.needs_login)]

    async def answer(self, item: Item, answer: Answer) -> None:
        """Approve a server exactly as it was shown, begin to sign in to it (then the item has a link), or answer what it asks."""
        if item.kind == "mcp_question":
            values = dict(answer.values) if answer.word == ANSWER else None
            if not self._servers.elicitations.answer(item.key, values):
                raise not_waiting()
            return
        if answer.word == SIGN_IN:
            await self._servers.begin_login_here(str(item.details["server"]))
            return
        for found, review in await asyncio.to_thread(self._waiting):
            if found.hash == item.hash and review is not None:
                await asyncio.to_thread(self._catalog.approve, review)
                return
        for shown, server, digest in await asyncio.to_thread(self._unseen):
            if shown.hash == item.hash and shown.answers:
                await asyncio.to_thread(self._servers.words.approve, server, digest)
                return
        raise not_waiting()

    async def _titles(self, asked: Asked) -> list[str]:
        found = [await self._find(session) for session in asked.work.sessions]
        return [(session and session.title) or "A new conversation" for session in found]

    def _unseen(self) -> list[tuple[Item, str, str]]:
        return [(_words(*each), each[0].server.name, each[2]) for each in self._servers.unseen()]

    def _login(self, runnable: Runnable) -> Item:
        server = runnable.server
        link = self._servers.links.of(runnable)
        details: dict[str, object] = {"server": server.name, "address": server.url}
        if link.problem is not None:
            details["problem"], details["hosts"] = str(link.problem), link.problem.fields.get("hosts", [])
        return Item(
            kind="mcp_server",
            key=f"login {server.name}",
            title=f"{server.name} wants you to sign in",
            source=server.name,
            details=details,
            answers=(SIGN_IN,),
            is_owners=True,
            link=link.link,
            command=f"parachute mcp login {server.name}",
        )

    def _waiting(self) -> list[tuple[Item, Review | None]]:
        return [self._reviewed(each) for each in self._catalog.listed() if each.state == "waiting"]

    def _reviewed(self, listed: Listed) -> tuple[Item, Review | None]:
        server, before = listed.server, listed.approval
        details: dict[str, object] = {"command": server.shown, "environment": [name for name, _ in server.env]}
        if server.is_remote:
            details = {"address": server.url, "headers": [name for name, _ in server.headers]}
        # What the owner hands out with a yes.
        details["secrets"] = list(server.secrets)
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


def _question(asked: Asked, titles: list[str]) -> Item:
    sessions = asked.work.sessions
    return Item(
        kind="mcp_question",
        key=asked.identifier,
        title=f"{asked.server} asks you something",
        source=asked.server,
        since=asked.since,
        details={
            "server": asked.server,
            "tools": list(asked.work.tools),
            "conversations": titles,
            **to_builtins(asked.form),
        },
        answers=(ANSWER, DECLINE),
        is_owners=True,
        session=sessions[0] if len(sessions) == 1 else None,
    )


def _words(runnable: Runnable, offer: Offer, digest: str) -> Item:
    """Show what a server says of its tools; what is too long to be shown whole cannot be approved."""
    server, shown = runnable.server, described(offer)
    is_whole = len(json.dumps(shown)) <= _SHOWN
    return Item(
        kind="mcp_server",
        key=f"words {server.name}",
        title=f"{server.name} says what its tools do",
        source=server.name,
        details={
            "server": server.name,
            "digest": digest,
            "tools": shown if is_whole else [each["name"] for each in shown],
        },
        answers=(APPROVE,) if is_whole else (),
        is_owners=True,
        command=f"parachute mcp tools {server.name}",
    )
