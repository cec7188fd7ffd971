"""Context for the agent that hooks of session.start add, in the form that Claude Code's hooks have."""

from collections.abc import Sequence
from typing import Any

from parachute.base.errors import InvalidInput
from parachute.events.hooks.models import Added

LIMIT = 16 * 1024
"""Bytes of what all hooks of one event add together."""

_KEY = "additionalContext"
_NOTICE = "systemMessage"
_NOTICE_CHARACTERS = 1000


def added(hook: str, output: dict[str, Any], before: Sequence[Added]) -> Added | None:
    """The addition in a hook's output: `{"additionalContext": "…"}`, also inside of `hookSpecificOutput`, or None.

    `systemMessage` is for the person. Error: InvalidInput if it is no text, or if it does not fit with what others have added before.
    """
    specific = output.get("hookSpecificOutput")
    text = output.get(_KEY, specific.get(_KEY) if isinstance(specific, dict) else None)
    notice = output.get(_NOTICE)
    notice = notice.strip()[:_NOTICE_CHARACTERS] if isinstance(notice, str) else ""
    text = "" if text is None else text
    if not isinstance(text, str):
        raise InvalidInput(f"{_KEY} is not a text, so nothing was added.", key="context_not_text")
    text = text.strip()
    if not text and not notice:
        return None
    left = LIMIT - sum(len(each.text.encode(errors="replace")) for each in before)
    if len(text.encode(errors="replace")) > left:
        raise InvalidInput(
            f"{_KEY} was left out: all hooks together may add {LIMIT:,} bytes, and {left:,} are left.",
            key="context_too_long",
        )
    return Added(hook, text, notice)


def joined(parts: Sequence[Added]) -> str:
    """All additions, each under the name of its hook."""
    return "\n\n".join(f'<from_hook name="{each.hook}">\n{each.text}\n</from_hook>' for each in parts if each.text)
