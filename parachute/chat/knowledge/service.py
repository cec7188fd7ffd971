"""Knowledge of modules about a message, within a time and a length."""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from parachute.base.errors import ParachuteError
from parachute.base.folders import Folder
from parachute.modules.runtime.interfaces import Interfaces

log = logging.getLogger(__name__)

INTERFACE = "ContextInterface"
BUDGET = 9_000
"""Characters, some 2,300 tokens: what is known must not crowd out what is said."""

_SECONDS = 3.0
_FOR_INSTRUCTIONS = 3_000
_WAKE_SECONDS = 60.0
_NAMES = 20
_ENTRY = "entry"
_INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md")
_FILES, _FILE_LIMIT, _SHORTEST = 6, 64 * 1024, 200


class Knowledge(Struct, frozen=True):
    """Knowledge about a message; `sources` are names for the person who wants to see where it came from.

    `names` are people, projects and topics of Brain, `entries` counts those of the journal.
    """

    text: str = ""
    sources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    entries: int = 0


class KnowledgeService:
    """Asks modules for knowledge; a turn goes on without it when none provides any, or not in time."""

    def __init__(self, interfaces: Interfaces, check_directory: Callable[[Path], Path], vault: Path) -> None:
        self._interfaces = interfaces
        self._vault = vault
        self._check_directory = check_directory
        self._woken = -_WAKE_SECONDS
        self._waking: asyncio.Task[None] | None = None

    def app_seen(self) -> None:
        """Wake the modules that will be asked: one that sleeps would delay the first message."""
        now = time.monotonic()
        if now - self._woken > _WAKE_SECONDS and (self._waking is None or self._waking.done()):
            self._woken = now
            self._waking = asyncio.create_task(self._interfaces.wake(INTERFACE), name="waking modules with knowledge")

    async def close(self) -> None:
        """Stop waking."""
        if self._waking is not None:
            self._waking.cancel()
            await asyncio.gather(self._waking, return_exceptions=True)

    async def for_message(
        self, session: str, message: str, may_open: Callable[[Path], bool] = lambda path: True
    ) -> Knowledge:
        """Return what modules know of the subjects of a message; `may_open` says of a file whether the conversation may."""
        if not self._interfaces.is_provided(INTERFACE):
            return Knowledge()
        arguments = {"message": message, "session_id": session, "budget": BUDGET - _FOR_INSTRUCTIONS}
        try:
            answer = await self._interfaces.call_for_core(INTERFACE, "context_for", arguments, _SECONDS)
        except ParachuteError as error:
            log.warning("No module answered what it knows of a message: %s", error)
            return Knowledge()
        known = _knowledge(answer)
        paths = answer.get("instructions") if isinstance(answer, dict) else None
        if not isinstance(paths, list) or not paths:
            return known
        return await asyncio.to_thread(self._with_instructions, known, paths[:_FILES], may_open)

    def _with_instructions(self, known: Knowledge, paths: list[Any], may_open: Callable[[Path], bool]) -> Knowledge:
        """Add files of projects, within the vault or outside, each only from a folder in which the user lets agents work."""
        parts, sources = [known.text] if known.text else [], list(known.sources)
        for text in paths:
            left = BUDGET - sum(len(part) + 2 for part in parts)
            if not isinstance(text, str) or left < _SHORTEST:
                continue
            try:
                path = self._vault / Path(text).expanduser()
                if path.name not in _INSTRUCTIONS or ".." in path.parts:
                    continue
                # Without links: what is read must be what lies in that folder.
                real = self._check_directory(path.parent)
                if not may_open(real.resolve()):
                    continue
                with Folder.open_unlinked(real) as folder:
                    content = folder.read(path.name, _FILE_LIMIT)
            except (OSError, RuntimeError, ParachuteError):
                continue
            parts.append(f"### {text}\n\n{content.decode(errors='replace').strip()}"[:left])
            sources.append(text)
        return msgspec.structs.replace(known, text="\n\n".join(parts), sources=tuple(sources))


def _knowledge(answer: Any) -> Knowledge:
    if not isinstance(answer, dict) or not isinstance(answer.get("text"), str):
        return Knowledge()
    entities = answer.get("entities")
    named = [each for each in entities if isinstance(each, dict)] if isinstance(entities, list) else []
    sources = tuple(str(each.get("path") or each.get("name") or "")[:200] for each in named[:_NAMES])
    entries = [each for each in named[:_NAMES] if each.get("type") == _ENTRY]
    names = (str(each.get("name") or "")[:200] for each in named[:_NAMES] if each.get("type") != _ENTRY)
    text = answer["text"].strip()[:BUDGET]
    return Knowledge(text, tuple(filter(None, sources)), tuple(filter(None, names)), len(entries))
