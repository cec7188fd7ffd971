"""The memory as what a suggestion is about: lines of a conversation that has read what others wrote."""

from datetime import datetime
from pathlib import Path
from typing import Any

from parachute.automation.suggestions.previews import Previewed, previewed
from parachute.base.errors import InvalidInput
from parachute.events.hooks import memory
from parachute.security.approved_prompts import ApprovedPrompts
from parachute.security.origin import Origin

MEMORY = "memory"
"""In the place of a module's name; no module can have it."""

LINE, MOST_LINES = 400, 12
_HEADING = 200


class OwnMemory:
    """`memory.md` as a target; every method waits for the disk."""

    def __init__(self, vault: Path, state: Path) -> None:
        self._vault = vault
        self._state = state

    def inspect(self, payload: dict[str, Any]) -> tuple[None, str]:
        """(no version, title) of an entry `{heading, lines}`; error: InvalidInput for what is none."""
        heading, _ = _read(payload)
        return None, heading

    def apply(self, payload: dict[str, Any], expected_version: object) -> dict[str, Any]:
        """Add the entry, which the owner has seen; errors: InvalidInput, OSError."""
        self.write(payload, approves=True)
        return {"file": memory.NAME}

    def preview(self, payload: dict[str, Any], is_waiting: bool) -> Previewed:
        """The lines that are added; error: InvalidInput."""
        heading, lines = _read(payload)
        return previewed(heading, None, "".join(f"- {line}\n" for line in lines))

    def is_applied(self, payload: dict[str, Any]) -> bool:
        """True if the newest part of the memory has the entry."""
        heading, lines = _read(payload)
        entry = f"## {heading}\n\n" + "".join(f"- {line}\n" for line in lines)
        return entry.strip() in memory.entries(memory.newest(self._vault))

    def write(self, payload: dict[str, Any], *, approves: bool) -> None:
        """Add an entry; `approves`: conversations that run directly are told it, too. Errors: InvalidInput, OSError."""
        entry = memory.append(self._vault, *_read(payload))
        if approves:
            memory.approve_entry(self._vault, ApprovedPrompts(self._state), entry)


def heading_of(title: str, *, is_direct: bool, origin: Origin) -> str:
    """The heading of an entry: when, about what, where it ran, and where it came from if that is not the owner."""
    came = "" if origin.may_instruct else f"from {origin.words}"
    return " · ".join(
        filter(None, (f"{datetime.now():%Y-%m-%d %H:%M}", title, "direct" if is_direct else "sandboxed", came))
    )


def _read(payload: dict[str, Any]) -> tuple[str, list[str]]:
    heading, lines = payload.get("heading"), payload.get("lines")
    if payload.keys() != {"heading", "lines"} or not _is_line(heading, _HEADING):
        raise InvalidInput(
            f"payload: a `heading` of one line with up to {_HEADING} characters, and `lines`.", key="memory_invalid"
        )
    if not isinstance(lines, list) or not 0 < len(lines) <= MOST_LINES or not all(_is_line(x, LINE) for x in lines):
        raise InvalidInput(
            f"payload.lines: 1 to {MOST_LINES} texts of one line with up to {LINE} characters each.",
            key="memory_lines_invalid",
        )
    return str(heading), lines


def _is_line(text: object, limit: int) -> bool:
    return isinstance(text, str) and len(text.strip()) > 0 and len(text) <= limit and len(text.splitlines()) == 1
