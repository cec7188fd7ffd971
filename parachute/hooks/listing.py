"""Hooks as the app and scripts read them."""

from collections.abc import Sequence
from typing import Any

from parachute.hooks.service import Listed


def as_json(listed: Sequence[Listed]) -> list[dict[str, Any]]:
    """Hooks for the app, where a command that several events have is one hook with all of them."""
    found: dict[tuple[object, ...], dict[str, Any]] = {}
    for each in listed:
        hook = each.hook
        key = (hook.name, hook.command, hook.is_async, hook.timeout, hook.description)
        entry = found.setdefault(
            key,
            {
                "name": hook.name,
                "events": [],
                "blocking": not hook.is_async,
                "description": hook.description,
                "command": hook.command,
                "source": hook.source,
                "timeout": hook.timeout,
                "approved": each.is_approved,
                "problem": each.problem,
            },
        )
        entry["events"].append(hook.event)
    return list(found.values())
