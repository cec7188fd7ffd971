"""Ids of messengers' chats: that of a group, and behind a slash that of a topic or thread in it."""

import re

# Ids of groups with topics are numbers on every messenger; those of Matrix may hold a slash of their own.
_TOPIC = re.compile(r"(-?[0-9]+)/([0-9]+)")


def topic_id(group: str, topic: int) -> str:
    """Return the id of a topic in a group."""
    return f"{group}/{topic}"


def split_id(chat: str) -> tuple[str, int | None]:
    """Return the id of the group, and of the topic in it, None for a chat that is no topic."""
    found = _TOPIC.fullmatch(chat)
    return (found[1], int(found[2])) if found else (chat, None)


def group_of(chat: str) -> str:
    """Return the id of the group to which a chat belongs: its own unless it is a topic."""
    return split_id(chat)[0]
