"""Conversations of ChatGPT's export: a tree of messages in `mapping`, of which `current_node` is the one shown last."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from imports.reading.attached import Attached
from imports.reading.chatgpt_messages import Messages, author_of, role_of
from imports.reading.conversation import Conversation, fields_of, moment, name_of, text_of
from imports.reading.trees import branches, count

SOURCE = "chatgpt"


def is_one(value: Any) -> bool:
    """Return True for an object with the shape of a conversation."""
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def read(value: dict[str, Any], attached: Attached) -> Iterator[Conversation]:
    """The conversation with the messages that were shown last, then its other branches, archived."""
    mapping = {str(key): fields_of(node) for key, node in value["mapping"].items()}
    parents = {key: name_of(node.get("parent")) for key, node in mapping.items()}
    messages = {key: fields_of(node.get("message")) for key, node in mapping.items()}
    original = name_of(value.get("conversation_id")) or name_of(value.get("id"))
    if original is None:
        original = next((key for key, node in mapping.items() if isinstance(node.get("message"), dict)), "unnamed")
    if not mapping:
        yield Conversation(SOURCE, original)
    people = {author for each in messages.values() if (author := author_of(each))}
    said: set[str] = set()
    ends = count(parents)
    for number, path in enumerate(branches(parents, name_of(value.get("current_node")))):
        spoken = {key for key in path if role_of(messages[key]) and fields_of(messages[key].get("content"))}
        if number and spoken <= said:
            continue  # only calls of tools, or a message that was never answered
        found = Conversation(
            SOURCE,
            original,
            branch=path[-1] if number else None,
            path=path,
            title=text_of(value.get("title")),
            created=moment(value.get("create_time")),
            updated=moment(value.get("update_time")) if number == 0 else None,
            archived=value.get("is_archived") is True or number > 0,
        )
        reader = Messages(found, attached, has_people=len(people) > 1)
        for key, following in zip(path, [*path[1:], None], strict=True):
            # What a branch shares with the one shown was counted there.
            counted = Counter[str]() if key in said else found.left_out
            reader.add(key, messages[key], messages[following] if following else {}, counted)
        reader.settle()
        said |= set(path)
        found.settle(number, ends)
        yield found
