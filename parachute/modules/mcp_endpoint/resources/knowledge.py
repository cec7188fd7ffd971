"""Entries of the journal and entities of Brain, asked from their modules."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from parachute.base.errors import ParachuteError
from parachute.modules.mcp_endpoint.policy import Policy
from parachute.modules.mcp_endpoint.resources import models
from parachute.modules.mcp_endpoint.resources.models import Page, Shown
from parachute.modules.mcp_endpoint.shapes import ENTRY, Shape
from parachute.modules.runtime.service import Hosts

_ENTRIES, _ENTITIES = 100, 500
"""Records that a module is asked for at once; entries come with their texts."""


class Entries:
    """Entries that have an id, the newest first; their days bound what is asked for."""

    offer = models.ENTRIES
    shape = Shape(("id", "date", "time", "title", "content", "path"), kind=ENTRY, day="date")

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts

    async def page(self, policy: Policy, start: int) -> Page:
        """Entries of the days that may be shown."""
        days = dict(zip(("from", "to"), policy.days, strict=True))
        asked = {name: day.isoformat() for name, day in days.items() if day}
        query = urlencode({**asked, "limit": _ENTRIES, "offset": start})
        return _page(await self._hosts.ask_route(self.offer.module, f"/entries?{query}"), "entries", start)

    async def find(self, key: str) -> Mapping[str, Any] | None:
        """An entry by its id."""
        return _same(await self._hosts.ask_route(self.offer.module, f"/entries/{quote(key, safe=':')}"), "id", key)

    def shown(self, record: Mapping[str, Any]) -> Shown:
        """An entry by its title, with its day."""
        return Shown(str(record.get("id") or ""), str(record.get("title") or record.get("date")), str(record["date"]))

    async def content(self, record: Mapping[str, Any]) -> str:
        """Title, day and text."""
        when = " ".join(str(record[name]) for name in ("date", "time") if record.get(name))
        return f"# {record.get('title') or when}\n\n{when}\n\n{record.get('content') or ''}\n"


class Entities:
    """Entities by name."""

    offer = models.ENTITIES
    shape = Shape(("para_id", "name", "type", "aliases", "tags", "path", "content"))

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts

    async def page(self, policy: Policy, start: int) -> Page:
        """Entities of all kinds."""
        query = urlencode({"limit": _ENTITIES, "offset": start})
        return _page(await self._hosts.ask_route(self.offer.module, f"/entities?{query}"), "results", start)

    async def find(self, key: str) -> Mapping[str, Any] | None:
        """An entity by its id."""
        query = urlencode({"id": key})
        return _same(await self._hosts.ask_route(self.offer.module, f"/entities/by_id?{query}"), "para_id", key)

    def shown(self, record: Mapping[str, Any]) -> Shown:
        """An entity by its name, with its kind."""
        return Shown(str(record.get("para_id") or ""), str(record.get("name")), str(record.get("type")))

    async def content(self, record: Mapping[str, Any]) -> str:
        """Name, kind, other names, tags and text."""
        lists = {name: record.get(name) for name in ("aliases", "tags")}
        said = [
            f"{name}: {', '.join(map(str, each))}" for name, each in lists.items() if isinstance(each, list) and each
        ]
        facts = "\n".join((f"type: {record.get('type')}", *said))
        return f"# {record.get('name')}\n\n{facts}\n\n{record.get('content') or ''}\n"


def _page(answer: Any, named: str, start: int) -> Page:
    records = answer.get(named) if isinstance(answer, dict) else None
    if not isinstance(records, list) or not all(isinstance(each, dict) for each in records):
        raise ParachuteError("A module gave another answer than was expected.", key="answer_not_judged")
    after = start + len(records)
    is_more = records and isinstance(total := answer.get("total"), int) and after < total
    return Page(records, after if is_more else None)


def _same(answer: Any, field: str, key: str) -> Mapping[str, Any] | None:
    """A record, if it is the one that was asked for: a module also takes other names for it."""
    return answer if isinstance(answer, dict) and answer.get(field) == key else None
