"""Conversations of Open WebUI, as its "export all chats" writes them: a tree of messages, of which `currentId` is the one shown last."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from imports.reading.attached import Attached
from imports.reading.conversation import Conversation, Role, fields_of, items_of, moment, name_of, text_of
from imports.reading.trees import branches, count

SOURCE = "openwebui"
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_FOLDED, _END = '<details type="', "</details>"
_LONGEST = 20
_KINDS = {"reasoning": "thoughts", "tool_calls": "tool_calls", "code_interpreter": "tool_calls"}


def is_one(value: Any) -> bool:
    """Return True for an object with the shape of a conversation."""
    chat = fields_of(fields_of(value).get("chat"))
    return isinstance(fields_of(chat.get("history")).get("messages"), dict)


def read(value: dict[str, Any], _: Attached) -> Iterator[Conversation]:
    """The conversation with the messages that were shown last, then its other branches, archived."""
    chat = fields_of(value.get("chat"))
    history = fields_of(chat.get("history"))
    messages = {str(key): fields_of(each) for key, each in fields_of(history.get("messages")).items()}
    parents = {key: name_of(each.get("parentId")) for key, each in messages.items()}
    original = name_of(value.get("id")) or next(iter(messages), "unnamed")
    if not messages:
        yield Conversation(SOURCE, original)
    said: set[str] = set()
    ends = count(parents)
    for number, path in enumerate(branches(parents, name_of(history.get("currentId")))):
        found = Conversation(
            SOURCE,
            original,
            branch=path[-1] if number else None,
            path=path,
            title=text_of(value.get("title")) or text_of(chat.get("title")),
            created=moment(value.get("created_at")),
            updated=moment(value.get("updated_at")) if number == 0 else None,
            archived=value.get("archived") is True or number > 0,
        )
        for key in path:
            # What a branch shares with the one shown was counted there.
            _add(found, key, messages[key], Counter[str]() if key in said else found.left_out)
        said |= set(path)
        found.settle(number, ends)
        yield found


def _add(found: Conversation, node: str, message: dict[str, Any], left_out: Counter[str]) -> None:
    role = _ROLES.get(text_of(message.get("role")))
    if role is None:
        left_out["hidden_messages"] += 1
        return
    texts = [_unfolded(text_of(message.get("content")), left_out)]
    for file in map(fields_of, items_of(message.get("files"))):
        is_picture = file.get("type") == "image"
        left_out["images" if is_picture else "files"] += 1
        texts += ["[Picture]"] if is_picture else []
    text = "\n\n".join(filter(None, texts))
    found.say(role, text, moment(message.get("timestamp")), name_of(message.get("model")), name=node)


def _unfolded(text: str, left_out: Counter[str]) -> str:
    """A text without what the program folds away in it: thoughts, and calls of tools."""
    kept, place = [], 0
    while (start := text.find(_FOLDED, place)) >= 0:
        begin = start + len(_FOLDED)
        what = _KINDS.get(text[begin : begin + _LONGEST].partition('"')[0])
        if what is None:
            # Others are words of the text.
            kept.append(text[place:begin])
            place = begin
            continue
        if (end := text.find(_END, begin)) < 0:
            break
        kept.append(text[place:start])
        place = end + len(_END)
        left_out[what] += 1
    return "".join([*kept, text[place:]]).strip("\n")
