"""The user's chats, for modules whose manifest says `conversations: read` or `write`."""

from typing import Any

from parachute.base.errors import InvalidInput
from parachute.core.connection import Connection, member
from parachute.core.interfaces import Conversation, Message
from parachute.core.values import convert

_ANSWER_SECONDS = 900.0


class Conversations:
    """Reads and continues chats through the server; errors: NotAllowed where the manifest does not say that the module may."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def search(self, topic: str | None = None, limit: int = 20) -> list[Conversation]:
        """Chats, newest first; those in which the words of a topic occur if one is given."""
        answer = await self._ask("list", {"topic": topic, "limit": limit})
        return [
            convert(each, Conversation, "conversations", strict=False) for each in member(answer, "conversations", list)
        ]

    async def messages(self, session_id: str, limit: int = 50) -> list[Message]:
        """The newest messages of a chat, oldest first; error: NotFound."""
        answer = await self._ask("messages", {"session_id": session_id, "limit": limit})
        return [convert(each, Message, "messages", strict=False) for each in member(answer, "messages", list)]

    async def send(self, session_id: str, content: str) -> Message:
        """Send a message as if the user had, `new` for a new chat, and wait for the whole answer.

        Errors: NotFound, Conflict while the chat is being answered.
        """
        answer = await self._ask("send", {"session_id": session_id, "content": content}, _ANSWER_SECONDS)
        return Message("assistant", str(answer.get("content", "")), answer.get("timestamp"))

    async def get(self, para_id: str) -> Conversation:
        """The chat with a para-id; error: NotFound."""
        return _conversation(await self._ask("get", {"para_id": para_id}))

    async def change(
        self, para_id: str, *, title: str | None = None, archived: bool | None = None, version: str | None = None
    ) -> Conversation:
        """Give a chat another title, put it away or take it back; what is None stays.

        Errors: NotFound, InvalidInput, Conflict if `version` is not that of the chat as it is.
        """
        change = {"para_id": para_id, "title": title, "archived": archived, "version": version}
        return _conversation(await self._ask("change", change))

    async def _ask(self, what: str, document: dict[str, Any], seconds: float = 30.0) -> dict[str, Any]:
        answer = await self._connection.request("POST", f"/conversations/{what}", document, seconds=seconds)
        if not isinstance(answer, dict):
            raise InvalidInput("The server's answer is not a JSON object.", key="answer_not_an_object")
        return answer


def _conversation(answer: dict[str, Any]) -> Conversation:
    found: Conversation = convert(answer, Conversation, "conversation", strict=False)
    return found
