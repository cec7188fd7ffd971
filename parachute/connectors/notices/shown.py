"""An item of the inbox as a message with buttons: what does not fit is answered elsewhere, since a yes is for what was shown."""

import json
from typing import Any

from parachute.connectors.notices.store import Choice
from parachute.connectors.texts import Language, say
from parachute.events.inbox.models import ALLOW, APPROVE, DENY, REJECT, Item

_LONGEST = 1500
_LABEL = 40
_MOST_OPTIONS = 8
_WORDS = {ALLOW: "allow", DENY: "deny", APPROVE: "approve", REJECT: "reject"}


def shown(item: Item, language: Language, *, is_guests: bool = False) -> tuple[str, tuple[Choice, ...]]:
    """The text and the buttons of an item; one that a guest's conversation brought has none that allows anything.

    A messenger's program that a guest's message has taken over could press them itself.
    """
    details = _details(item)
    has_none = len(details) > _LONGEST or (is_guests and item.kind != "question")
    offered = () if has_none else choices(item, language)
    lines = [f"**{item.title}**", item.source, details[:_LONGEST]]
    if not offered:
        lines.append(say(language, "look_in_console"))
    return "\n\n".join(filter(None, lines)), offered


def _details(item: Item) -> str:
    match item.kind:
        case "question":
            return ""
        case "permission":
            found: Any = {"input": item.details.get("input"), "reason": item.details.get("reason")}
        case "suggestion":
            found = {
                name: item.details.get(name) for name in ("action", "target_module", "target_id", "payload", "reason")
            }
        case _:
            return ""
    return f"```json\n{json.dumps(found, indent=1, ensure_ascii=False, default=str)}\n```"


def choices(item: Item, language: Language) -> tuple[Choice, ...]:
    """The buttons of an item that can be answered without the owner's own rights."""
    if item.is_owners or any(capability == "admin" for _, capability in item.rights):
        return ()
    if item.kind == "question":
        return _options(item)
    if item.kind not in ("permission", "suggestion"):
        return ()
    return tuple(Choice(say(language, f"button_{_WORDS[word]}"), word) for word in item.answers if word in _WORDS)


def _options(item: Item) -> tuple[Choice, ...]:
    """The answers of a single question with one choice; those of others are more than buttons can say."""
    questions = item.details.get("questions")
    if not isinstance(questions, list) or len(questions) != 1 or not isinstance(questions[0], dict):
        return ()
    question = questions[0]
    options = question.get("options")
    if question.get("multiSelect") or not isinstance(options, list) or not 0 < len(options) <= _MOST_OPTIONS:
        return ()
    labels = [str(each.get("label", "")) for each in options if isinstance(each, dict)]
    return tuple(
        Choice(label[:_LABEL], "answer", json.dumps([str(question.get("question", "")), label])) for label in labels
    )
