"""Requests of the agent's program to the model, and messages of a conversation."""

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.connectors.bots.talking import Bot
from tests.support.messages_api import Reply, text


def asked_with(bot: Bot, part: str) -> list[str]:
    """The requests in whose newest message a text stands."""
    asked = ([one for one in each.body["messages"] if one["role"] == "user"][-1] for each in bot.model.conversation)
    bodies = map(json.dumps, asked)
    return [each for each in bodies if part in each]


def spoken(session: dict[str, Any], begin: str = "") -> list[str]:
    """Return the messages of people in a conversation, message by message of the platform."""
    found: list[str] = []
    for message in session["messages"]:
        if message["role"] == "user":
            content = message["content"]
            words = content if isinstance(content, str) else "\n\n".join(each.get("text", "") for each in content)
            found += [each for each in re.split(r"\n+", words) if each.startswith(begin)]
    return found


def reply_to_each(body: Mapping[str, Any]) -> Reply:
    """An answer that names the last message."""
    found = re.findall(r"<message-\d+>", json.dumps(body["messages"]))
    return text(f"Read up to {found[-1].strip('<>') if found else 'nothing'}.")
