"""The client of one running MCP server."""

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from parachute import __version__
from parachute.base.clock import Clock
from parachute.base.errors import ParachuteError, Unavailable
from parachute.capabilities.mcp_servers.offers import MOST_READ
from parachute.capabilities.mcp_servers.results import cleaned, links_of, listed_in, text_of, texts_in
from parachute.chat.agent_processes.tools import LONGEST_CALL_SECONDS

# The library of MCP is imported in functions: it takes half a second of a small processor, which the start of the server has not.
if TYPE_CHECKING:
    from mcp.shared.dispatcher import CallOptions, Dispatcher, ProgressFnT

log = logging.getLogger(__name__)

_LEAVE_SECONDS = 10.0
_MOST_LINKS, _LINK_SECONDS = 8, 20.0
"""Links of one result that are followed, and the longest wait for each."""

_LONGEST_REASON = 800
_PAGES = 20
Answer = TypeVar("Answer")


class ToolFailed(ParachuteError):
    """A tool said that it could not do what was asked; the message is its own text."""

    key = "tool_failed"


class Link(Protocol):
    """One connection to a server; `ended` is set when it is over, and `failure` is what went wrong with the last request."""

    ended: asyncio.Event

    @property
    def failure(self) -> ParachuteError | None:
        """Return the failure since the last request began."""

    def asked(self) -> None:
        """Begin a request: the server may send as much again."""

    def error(self) -> ParachuteError:
        """Return why the connection has ended."""

    def cleaned(self, text: str) -> str:
        """Take secrets out of what the server says."""

    def streams(self) -> AbstractAsyncContextManager[tuple[Any, Any]]:
        """Open the streams of a client session; error: Unavailable."""


class _Session(NamedTuple):
    """A server that has introduced itself. It is asked below the types of MCP's library, which drop a whole answer for one bad part."""

    dispatcher: "Dispatcher[Any]"
    headers: dict[str, str]

    async def ask(self, method: str, params: dict[str, Any], progress: "ProgressFnT | None" = None) -> dict[str, Any]:
        """The result as the server has sent it."""
        options: CallOptions = {"headers": self.headers}
        if progress is not None:
            options["on_progress"] = progress
        return await self.dispatcher.send_raw_request(method, params, options)


class _Silence:
    """The time left to a silent server: a report of its progress begins it anew, up to the longest call."""

    def __init__(self, seconds: float, link: Link, clock: Clock) -> None:
        self._seconds = seconds
        self._clock = clock
        self._link = link
        self._began = self._heard = self._renewed = self._clock.awake()

    async def broken(self, progress: float, total: float | None, message: str | None) -> None:
        """Hear of progress; what a server may send is renewed once a second."""
        self._heard = self._clock.awake()
        if self._heard - self._renewed >= 1:
            self._renewed = self._heard
            self._link.asked()

    def left(self) -> float:
        """Seconds until it has been silent for too long, none if it has."""
        return min(self._heard + self._seconds, self._began + LONGEST_CALL_SECONDS) - self._clock.awake()


class Client:
    """Keeps one connection to a server, which starts it or signs in there; closing it ends that.

    `changed` is called when the server says that it offers other tools.
    """

    def __init__(self, name: str, link: Link, changed: Callable[[], None], clock: Clock) -> None:
        self._clock = clock
        self._name = name
        self._link = link
        self._changed = changed
        self._ready: asyncio.Future[_Session] = asyncio.get_running_loop().create_future()
        self._leave = asyncio.Event()
        self._is_open = False
        self._task = asyncio.create_task(self._keep(), name=f"MCP server {name}")

    @property
    def ended(self) -> bool:
        """True if the server has ended or has to be ended."""
        return self._task.done() or self._link.ended.is_set()

    async def connected(self, seconds: float) -> None:
        """Wait until the server has introduced itself; error: Unavailable, and then it is ended."""
        ended = asyncio.create_task(self._link.ended.wait())
        try:
            waits: tuple[asyncio.Future[Any], ...] = (self._ready, ended)
            with contextlib.suppress(TimeoutError):
                async with self._clock.timeout(seconds):
                    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if self._ready.done():
                self._ready.result()
            elif ended.done():
                raise self._link.error()
            else:
                raise Unavailable(
                    f"The MCP server {self._name} did not introduce itself within {seconds:.0f} s.", key="server_silent"
                )
        finally:
            ended.cancel()
            await asyncio.gather(ended, return_exceptions=True)

    async def tools(self, seconds: float) -> list[dict[str, Any]]:
        """List the server's tools: `name`, `description` and `input_schema` of each as it says them; error: Unavailable."""
        session = await self._ready

        async def pages() -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = []
            cursor = None
            for _ in range(_PAGES):
                page = await session.ask("tools/list", {} if cursor is None else {"cursor": cursor})
                found += listed_in(page, self._name)
                cursor = page.get("nextCursor")
                if not isinstance(cursor, str) or not cursor or len(found) > MOST_READ:
                    break
            return found[: MOST_READ + 1]

        found = await self._asked(pages(), seconds, "say what it offers")
        # What a server says of its tools comes to agents and into files.
        said = [{field: cleaned(value, self._link.cleaned) for field, value in tool.items()} for tool in found]
        return [tool for tool, before in zip(said, found, strict=True) if tool["name"] == before["name"]]

    async def call(self, tool: str, arguments: dict[str, Any], seconds: float) -> str:
        """The text that a tool answers; errors: ToolFailed, Unavailable."""
        session = await self._ready
        silence = _Silence(seconds, self._link, self._clock)
        sent = session.ask("tools/call", {"name": tool, "arguments": arguments}, silence.broken)
        result = await self._asked(sent, seconds, f"answer the call of {tool}", silence)
        text = self._link.cleaned(text_of(result, await self._linked(result)))
        if result.get("isError") is True:
            raise ToolFailed(text or f"The tool {tool} failed without a word.")
        return text or "The tool answered with an empty result."

    async def _linked(self, result: dict[str, Any]) -> dict[str, str]:
        """The texts that the links of a result lead to, by their address: an agent has no other way to them."""
        session = await self._ready
        found: dict[str, str] = {}
        for address in links_of(result)[:_MOST_LINKS]:
            with contextlib.suppress(Unavailable):  # then the link is all there is
                asked = session.ask("resources/read", {"uri": address})
                read = await self._asked(asked, _LINK_SECONDS, f"give {address[:200]}")
                found[address] = "\n".join(texts_in(read))
        return found

    async def close(self) -> None:
        """End the session, and with it the server."""
        self._leave.set()
        if self._is_open:
            await asyncio.wait({self._task}, timeout=_LEAVE_SECONDS)
        # What a server lets hang would hang for ever.
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _asked(
        self, asking: Coroutine[Any, Any, Answer], seconds: float, what: str, silence: "_Silence | None" = None
    ) -> Answer:
        self._link.asked()
        asked = asyncio.create_task(asking, name=f"question to {self._name}")
        ended = asyncio.create_task(self._link.ended.wait())
        try:
            timeout: float = seconds
            while timeout > 0:
                with contextlib.suppress(TimeoutError):
                    async with self._clock.timeout(timeout):
                        await asyncio.wait({asked, ended}, return_when=asyncio.FIRST_COMPLETED)
                if asked.done() or ended.done() or silence is None:
                    break
                timeout = silence.left()
            if asked.done():
                return asked.result()
            if ended.done():
                raise self._link.error()
            raise Unavailable(
                f"The MCP server {self._name} did not {what} within {seconds:.0f} seconds.", key="too_slow"
            )
        except ParachuteError:
            raise
        except Exception as error:
            if self._link.ended.is_set():
                raise self._link.error() from error
            if (failure := self._link.failure) is not None:
                raise failure from error
            raise Unavailable(
                f"The MCP server {self._name} could not {what}: {self._words(error)}", key="server_asked_in_vain"
            ) from error
        finally:
            for task in (asked, ended):
                task.cancel()
            await asyncio.gather(asked, ended, return_exceptions=True)

    async def _keep(self) -> None:
        """Hold the session open: what MCP's library begins has to be ended by the same task."""
        from mcp import ClientSession
        from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
        from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
        from mcp.types import Implementation

        try:
            async with self._link.streams() as (read, write):
                self._is_open = True
                information = Implementation(name="parachute", version=__version__)
                dispatcher: Dispatcher[Any] = JSONRPCDispatcher(read, write)
                async with ClientSession(
                    dispatcher=dispatcher, client_info=information, message_handler=self._hear
                ) as session:
                    waits: list[asyncio.Future[Any]] = [
                        asyncio.ensure_future(event.wait()) for event in (self._leave, self._link.ended)
                    ]
                    try:
                        introduced = asyncio.ensure_future(session.initialize())
                        waits.append(introduced)
                        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                        if not introduced.done():
                            raise self._link.error()
                        version = introduced.result().protocol_version
                        headers = {MCP_PROTOCOL_VERSION_HEADER: version}
                        self._ready.set_result(_Session(dispatcher, headers))
                        await asyncio.wait(waits[:2], return_when=asyncio.FIRST_COMPLETED)
                    finally:
                        for wait in waits:
                            wait.cancel()
                        await asyncio.gather(*waits, return_exceptions=True)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            failure = error if isinstance(error, ParachuteError) else self._failure(error)
            if not self._ready.done():
                self._ready.set_exception(failure)
                self._ready.exception()  # nobody may be waiting for it any more
        finally:
            self._link.ended.set()
            with contextlib.suppress(asyncio.InvalidStateError):
                self._ready.cancel()

    async def _hear(self, message: Any) -> None:
        from mcp.types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._changed()

    def _failure(self, error: BaseException) -> ParachuteError:
        if (failure := self._link.failure) is not None:
            return failure
        if self._link.ended.is_set():
            return self._link.error()
        log.info("The MCP server %s did not begin: %s", self._name, self._words(error))
        return Unavailable(
            f"The MCP server {self._name} does not speak as one: {self._words(error)}",
            key="server_speaks_other_protocol",
        )

    def _words(self, error: BaseException) -> str:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        # What checks messages adds the address of its own documentation.
        said = str(error).partition("For further information")[0]
        # Some servers say only there what is wrong.
        if (data := getattr(getattr(error, "error", None), "data", None)) is not None:
            said += f" ({data if isinstance(data, str) else json.dumps(data)})"
        said = self._link.cleaned(" ".join(said.split()))[:_LONGEST_REASON]
        text = said or type(error).__name__
        return text if text.endswith(".") else f"{text}."
