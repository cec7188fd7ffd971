"""Requests of servers to their owner during a call: each waits in the inbox, and nobody else ever answers it."""

import asyncio
import uuid
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Self

from msgspec import Struct

from parachute.base.clock import Clock, as_text
from parachute.base.errors import InvalidInput
from parachute.capabilities.mcp_servers.forms import Form, Value, cleaned_form, content_of, form_of

ANSWER_SECONDS = 300.0
"""Longest wait for the owner; then the server hears that nobody has answered."""

_MOST = 4
"""Requests of one server that wait at a time."""

Reply = dict[str, Any]
DECLINED: Reply = {"action": "decline"}
NOBODY: Reply = {"action": "cancel"}


class Work(NamedTuple):
    """The calls on which a server works when it asks: their tools, and the conversations that made them."""

    tools: tuple[str, ...]
    sessions: tuple[str, ...]

    @classmethod
    def of(cls, calls: Iterable[tuple[str, str | None]]) -> Self:
        """Name each of them once."""
        tools, sessions = zip(*calls, strict=True)
        return cls(tuple(sorted({*tools})), tuple(sorted({each for each in sessions if each})))


class Asked(Struct, eq=False):
    """A request that waits for the owner."""

    identifier: str
    server: str
    work: Work
    form: Form
    since: str
    reply: asyncio.Future[Reply]


class Elicitations:
    """The requests that wait; `changed` is called when one comes or goes."""

    def __init__(self, changed: Callable[[], None], clock: Clock) -> None:
        self._changed = changed
        self._clock = clock
        self._waiting: dict[str, Asked] = {}

    def waiting(self) -> tuple[Asked, ...]:
        """The requests that wait now."""
        return tuple(self._waiting.values())

    async def ask(self, server: str, work: Work, params: dict[str, Any], clean: Callable[[str], str]) -> Reply:
        """Put a request of a server to the owner, without secrets; error: InvalidInput for one that is refused."""
        if params.get("mode", "form") != "form":
            raise InvalidInput(
                "This client asks its owner with forms only: it opens no address for a server. Say the address in the "
                "result of the tool.",
                key="url_mode_refused",
            )
        form = cleaned_form(form_of(params.get("message"), params.get("requestedSchema")), clean)
        if sum(each.server == server for each in self._waiting.values()) >= _MOST:
            raise InvalidInput(f"{_MOST} requests wait for the owner already.", key="too_many_requests")
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        asked = Asked(str(uuid.uuid4()), server, work, form, as_text(self._clock.now()), reply)
        self._waiting[asked.identifier] = asked
        self._changed()
        try:
            async with self._clock.timeout(ANSWER_SECONDS):
                return await reply
        except TimeoutError:
            return NOBODY
        finally:
            del self._waiting[asked.identifier]
            self._changed()

    def answer(self, identifier: str, values: dict[str, str | list[str]] | None) -> bool:
        """Answer a request, None declines it; False if it does not wait any more. Error: InvalidInput for what does not fit."""
        asked = self._waiting.get(identifier)
        if asked is None or asked.reply.done():
            return False
        content: dict[str, Value] | None = None if values is None else content_of(asked.form, values)
        asked.reply.set_result(DECLINED if content is None else {"action": "accept", "content": content})
        return True
