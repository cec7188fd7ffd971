"""The judge of one grant: asked before a tool is called, and of everything that it answers."""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import date
from pathlib import PurePosixPath
from typing import Any

from msgspec import Struct

from parachute.base.errors import NotAllowed
from parachute.modules.manifest.models import RESOURCE_NAMES
from parachute.modules.mcp_endpoint.shapes import CONVERSATION, SHAPES, SUGGESTED, Shape
from parachute.modules.runtime.models import OfferedTool
from parachute.security.mcp_clients.models import ANY, Limits

WorkspaceOf = Callable[[str], Awaitable[str | None]]
"""The workspace of a conversation, NO_WORKSPACE for one that is in none, None for one that nobody knows."""

_LIMIT = "limit"
_USUAL = 10
FILES = 50
"""Paths of one answer that its receipt names."""

LONGEST = 400_000
"""Characters of an answer."""


class Passed(Struct, frozen=True):
    """An answer that may leave, and what is in it: paths and para-ids."""

    text: str
    files: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()


class Policy:
    """The one judge of a grant. What it cannot judge is refused, and what is not named is not there."""

    def __init__(self, limits: Limits, workspace_of: WorkspaceOf) -> None:
        self._limits = limits
        self._workspace_of = workspace_of

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders of what may leave."""
        return self._limits.folders

    @property
    def kept_back(self) -> tuple[object, ...]:
        """Everything that decides what is left out of lists."""
        return self.folders, self._limits.kinds, self.days

    @property
    def days(self) -> tuple[date | None, date | None]:
        """The first and the last day of what may leave."""
        return self._limits.since, self._limits.until

    def has(self, name: str) -> bool:
        """Return whether something is named, such as a kind of resources, whose records are judged one by one."""
        return name in self._limits.tools

    def allows(self, tool: OfferedTool) -> bool:
        """Return whether a tool is offered."""
        return self.has(tool.name) and may_be_offered(tool, self._limits)

    def asked(self, tool: OfferedTool, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments with which the tool is called: more is asked for than may leave, and no day before the first one."""
        shape, asked = SHAPES.get(tool.name), dict(arguments)
        if shape is None or self._limits.is_whole:
            return asked
        if shape.asked is not None:
            asked[_LIMIT] = shape.asked
        if tool.name == "daily-search" and self._limits.since is not None:
            first = self._limits.since.isoformat()
            said = asked.get("date_from")
            asked["date_from"] = max(first, said) if isinstance(said, str) else first
        return asked

    async def passed(self, tool: OfferedTool, arguments: Mapping[str, Any], text: str) -> Passed:
        """The part of an answer that may leave; error: NotAllowed where that cannot be told."""
        if self._limits.is_whole:
            return _named(text, _records_anywhere(text))
        shape = SHAPES.get(tool.name)
        records = _records(text, shape) if shape else None
        if shape is None or records is None:
            raise NotAllowed(
                "This answer cannot be judged, so it stays here.", "Ask with another tool.", key="answer_not_judged"
            )
        most = arguments.get(_LIMIT, _USUAL)
        kept = [each for each in records if await self.may_leave(each, shape)]
        if shape.asked is not None:
            kept = kept[: max(0, most)] if isinstance(most, int) else []
        shown = [{name: each[name] for name in shape.fields if name in each} for each in kept]
        return _named(json.dumps(shown if shape.named is None else {shape.named: shown}, ensure_ascii=False), shown)

    async def may_leave(self, record: Mapping[str, Any], shape: Shape) -> bool:
        """Return whether a record of a shape may be told."""
        kind = shape.kind or record.get("type")
        if not isinstance(kind, str) or not self.has_kind(kind):
            return False
        if shape.day is not None and not self.is_within(record.get(shape.day)):
            return False
        if shape.kind == CONVERSATION:
            identifier = record.get("id")
            if not isinstance(identifier, str):
                return False
            workspace = await self._workspace_of(identifier)
            return workspace is not None and _has(self._limits.workspaces, workspace)
        return is_below(record.get("path"), self._limits.folders)

    def has_kind(self, kind: str) -> bool:
        """Return whether anything of a kind may leave."""
        return _has(self._limits.kinds, kind)

    def is_within(self, said: object) -> bool:
        """Return whether a day, such as 2026-01-31, is one of those of the grant."""
        since, until = self._limits.since, self._limits.until
        if since is None and until is None:
            return True
        try:
            day = date.fromisoformat(said[:10]) if isinstance(said, str) else None
        except ValueError:
            day = None
        return day is not None and (since is None or day >= since) and (until is None or day <= until)


def shortened(text: str) -> str:
    """A text as long as one answer may be."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n[The rest is left out: ask for less.]"


def may_be_offered(tool: OfferedTool, limits: Limits) -> bool:
    """Return whether a tool can be in a grant with these limits: its answers are judged, or nothing is kept back; what writes suggests."""
    if tool.name in RESOURCE_NAMES:
        # One word would allow both.
        return False
    if not tool.reads_only:
        return tool.name in SUGGESTED
    return tool.name in SHAPES or limits.is_whole


def is_below(path: object, folders: Iterable[str]) -> bool:
    """Return whether a path of the vault is in one of the folders; one that could lead elsewhere is in none."""
    if not isinstance(path, str) or not path or path.startswith("/") or "\\" in path or "\0" in path:
        return False
    parts = tuple(path.split("/"))
    if any(part in ("", ".", "..") for part in parts):
        return False
    return any(folder == ANY or parts[: len(given := PurePosixPath(folder).parts)] == given for folder in folders)


def _has(named: tuple[str, ...], one: str) -> bool:
    return ANY in named or one in named


def _records(text: str, shape: Shape) -> list[Mapping[str, Any]] | None:
    """The records of an answer, None if it is of another shape."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if shape.named is not None:
        answer = answer.get(shape.named) if isinstance(answer, dict) else None
    if not isinstance(answer, list) or not all(isinstance(each, dict) for each in answer):
        return None
    return answer


def _records_anywhere(text: str) -> list[Mapping[str, Any]]:
    """Records of an answer of any shape, for its receipt."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return []
    lists = [answer, *(answer.values() if isinstance(answer, dict) else ())]
    return [each for found in lists if isinstance(found, list) for each in found if isinstance(each, dict)]


def _named(text: str, records: Iterable[Mapping[str, Any]]) -> Passed:
    found = list(records)
    paths = dict.fromkeys(str(each["path"]) for each in found if isinstance(each.get("path"), str))
    ids = dict.fromkeys(str(said) for each in found if isinstance(said := each.get("para_id") or each.get("id"), str))
    return Passed(text, tuple(paths)[:FILES], tuple(ids)[:FILES])
