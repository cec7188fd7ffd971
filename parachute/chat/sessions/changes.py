"""Changes of a session's configuration, checked before any of them is made."""

import re
from collections.abc import Callable
from typing import Any

from parachute.base.errors import InvalidInput
from parachute.chat.sessions.models import Session

_RESPONSE_MODES = ("all_messages", "mention_only")
_MODEL = re.compile(r"[A-Za-z0-9._:/@\[\]-]{0,100}")


def change_of(changes: dict[str, Any]) -> Callable[[Session], None]:
    """Return the change of a session for these members of the request (contract, section 2), without the trust level.

    Error: InvalidInput naming the field and what is allowed.
    """
    workspace = changes.get("workspaceId")
    overrides = changes.get("configOverrides") or {}
    if unknown := set(overrides) - {"model"}:
        raise InvalidInput(
            f"configOverrides: expected only `model`, not {', '.join(sorted(unknown))[:200]!r}.", key="unknown_override"
        )
    model = overrides.get("model")
    if model is not None and not (isinstance(model, str) and _MODEL.fullmatch(model)):
        raise InvalidInput(
            "configOverrides.model: expected the name of a model, of at most 100 characters.", key="invalid_model"
        )
    mode = changes.get("responseMode")
    if mode is not None and mode not in _RESPONSE_MODES:
        raise InvalidInput("responseMode: expected `all_messages` or `mention_only`.", key="invalid_response_mode")
    pattern = changes.get("mentionPattern")
    title = title_in(changes)

    def change(session: Session) -> None:
        if title is not None:
            session.title = title
        if workspace is not None:
            session.workspace_id = workspace or None
        if "model" in overrides:
            session.model = model or None
        known = session.metadata.get("bot_settings")
        bot = dict(known) if isinstance(known, dict) else {}
        if mode is not None:
            bot["response_mode"] = mode
        if pattern is not None:
            bot["mention_pattern"] = pattern or None
        if bot:
            session.metadata["bot_settings"] = bot

    return change


def title_in(changes: dict[str, Any]) -> str | None:
    """The new title, on one line; None if it stays. Error: InvalidInput for an empty one."""
    title = changes.get("title")
    if title is None:
        return None
    if not (words := " ".join(title.split())):
        raise InvalidInput("title: must not be empty.", key="title_empty")
    return words
