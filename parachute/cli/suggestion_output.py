"""Suggestions as people read them on a terminal."""

import json
from collections.abc import Sequence
from typing import Any

from parachute.cli.identifiers import short
from parachute.cli.output import clean
from parachute.cli.times import ago, local

_LINES = 12
_CHARACTERS = 100


def shown(suggestion: dict[str, Any], *, whole: bool = True) -> str:
    """One suggestion with what it would change; not `whole`: only the beginning of a long payload."""
    lines = [_heading(suggestion)]
    members: Sequence[dict[str, Any]] = suggestion.get("members") or ()
    for member in members:
        lines += [f"  {line}" for line in shown(member, whole=whole).splitlines()]
    if not members:
        lines += _payload(suggestion["payload"], whole)
    if suggestion["modifications"] is not None:
        lines += ["  Applied instead:", *_payload(suggestion["modifications"], whole)]
    if suggestion["reasoning"]:
        lines.append(f"  “{' '.join(suggestion['reasoning'].split())}”")
    lines.append(f"  Source: {suggestion['source_agent']} • {ago(suggestion['timestamp'])}")
    if suggestion["status"] != "pending":
        lines.append(
            f"  {suggestion['status'].capitalize()} by {suggestion['resolved_by']} • {local(suggestion['resolved_at'])}"
        )
    if suggestion["error"]:
        lines.append(f"  Not applied yet: {suggestion['error']}")
    return clean("\n".join(lines))


def shown_resolution(resolution: dict[str, Any]) -> str:
    """One line of the log of decisions."""
    reason = resolution["error"] or resolution["reason"]
    line = f"{local(resolution['timestamp'])}  {resolution['outcome']} by {resolution['resolved_by']} ({resolution['who']})"
    return clean(f"{line}: {reason}" if reason else line)


def shown_outcome(outcome: dict[str, Any]) -> str:
    """What a run of the orchestrator has done."""
    if outcome["error"]:
        return f"{outcome['status'].capitalize()}: {outcome['error']}"
    done = [
        (outcome["dropped"], "dropped, since others say the same"),
        (outcome["approved"], "approved"),
        (outcome["rejected"], "rejected"),
    ]
    lines = [f"{len(found)} {what}: {', '.join(map(short, found))}." for found, what in done if found]
    lines += [f"Wait for you as one: `parachute suggestions show {short(entry)}`." for entry in outcome["entries"]]
    return "\n".join(lines) or "Nothing was to be done."


def _heading(suggestion: dict[str, Any]) -> str:
    title = suggestion["title"] or suggestion["target_id"] or "(without a name)"
    target = f"  [{suggestion['target_module']}]" if suggestion["target_module"] else ""
    return f"{short(suggestion['id'])}  {suggestion['action'].capitalize()}: {title}{target}"


def _payload(payload: dict[str, Any], whole: bool) -> list[str]:
    lines = json.dumps(payload, indent=2, ensure_ascii=False).splitlines()
    if not whole:
        lines = [line if len(line) <= _CHARACTERS else f"{line[:_CHARACTERS]}…" for line in lines]
        if len(lines) > _LINES:
            lines = [*lines[:_LINES], f"… and {len(lines) - _LINES} more lines"]
    return [f"    {line}" for line in lines]
