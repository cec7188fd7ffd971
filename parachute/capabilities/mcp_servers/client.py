"""The client of one running MCP server."""

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from parachute.base.clock import Clock
from parachute.base.errors import InvalidInput, ParachuteError, Unavailable
from parachute.capabilities.mcp_servers.elicitations import Work
from parachute.capabilities.mcp_servers.offers import MOST_READ
from parachute.capabilities.mcp_servers.resources import MOST_LISTED, OWN_TOOLS, text_of_list
from parachute.capabilities.mcp_servers.results import cleaned, described, links_of, text_of, texts_in
from parachute.capabilities.mcp_servers.session import Session, introduced
from parachute.capabilities.mcp_servers.silence import Silence
from parachute.chat.agent_processes import progress

# The library of MCP is imported in functions: it takes half a second of a small processor, which the start of the server has not.
if TYPE_CHECKING:
    from mcp.shared.dispatcher import Dispatcher

log = logging.getLogger(__name__)

_LEAVE_SECONDS = 10.0
_MOST_LINKS, _LINK_SECONDS = 8, 20.0
"""Links of one result that are followed, and the longest wait for each."""

_LONGEST_REASON = 800
_PROBE_SECONDS = 3.0
"""Longest wait for each of two lists of resources, which nobody has asked for: a turn waits for them and for the tools."""

_INVALID_REQUEST, _INVALID_PARAMS = -32600, -32602
Answer = TypeVar("Answer")
Ask = Callable[[Work, dict[str, Any], Callable[[str], str]], Coroutine[Any, Any, dict[str, Any]]]
"""Puts a request of a server to the owner, without the secrets that a function takes out; error: InvalidInput."""


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


class Client:
    """Keeps one connection to a server, which starts it or signs in there; closing it ends that.

    `changed` is called when the server says that it offers other tools, `ask` when it wants something of its owner.
    """

    def __init__(self, name: str, link: Link, changed: Callable[[], None], ask: Ask, clock: Clock) -> None:
        self._ask_owner = ask
        self._calls: dict[Silence, str | None] = {}
        """Calls at work, with their conversations."""
        self._owners: dict[asyncio.Task[dict[str, Any]], frozenset[Silence]] = {}
        """Requests that wait for the owner, with the calls that were at work: no request says to which of them it belongs."""
        self._clock = clock
        self._name = name
        self._link = link
        self._changed = changed
        self._ready: asyncio.Future[Session] = asyncio.get_running_loop().create_future()
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
        """List the server's tools with name, description and schemas as it says them, and those for its resources.

        Error: Unavailable.
        """
        session = await self._ready
        has_resources = "resources" in session.abilities
        if has_resources and "tools" not in session.abilities:
            await self.resources(seconds)  # where its owner has to sign in, this says so
            return list(OWN_TOOLS)
        asked = session.listed("tools/list", "tools", MOST_READ)
        found = [described(each) for each in await self._asked(asked, seconds, "say what it offers")]
        # What a server says of its tools comes to agents and into files.
        said = [{field: cleaned(value, self._link.cleaned) for field, value in tool.items()} for tool in found]
        kept = [tool for tool, before in zip(said, found, strict=True) if tool["name"] == before["name"]]
        return [*OWN_TOOLS, *kept] if has_resources and await self._has_resources() else kept

    async def call(
        self, tool: str, arguments: dict[str, Any], seconds: float, output: Mapping[str, Any] | None = None
    ) -> str:
        """The text that a tool answers, whose structured content has the schema `output`; errors: ToolFailed, Unavailable."""
        session = await self._ready
        silence = Silence(
            tool,
            seconds,
            self._link,
            self._clock,
            progress.tell.get(),
            lambda: any(silence in calls for calls in self._owners.values()),
        )
        self._calls[silence] = progress.session.get()
        try:
            sent = session.ask("tools/call", {"name": tool, "arguments": arguments}, silence.broken)
            result = await self._asked(sent, seconds, f"answer the call of {tool}", silence)
        finally:
            del self._calls[silence]
            for owner, calls in self._owners.items():
                if not calls & self._calls.keys():  # nobody is there any more for whom the owner would answer
                    owner.cancel()
        text = await asyncio.to_thread(text_of, result, await self._linked(result), output)
        text = self._link.cleaned(text)
        if result.get("isError") is True:
            raise ToolFailed(text or f"The tool {tool} failed without a word.")
        return text or "The tool answered with an empty result."

    async def resources(self, seconds: float) -> str:
        """List the server's resources in words; error: Unavailable."""
        session = await self._ready
        asked = session.listed("resources/list", "resources", MOST_LISTED)
        found = await self._asked(asked, seconds, "list its resources")
        patterns: list[Any] = []
        with contextlib.suppress(Unavailable):  # many have none, and some say so with an error
            asked = session.listed("resources/templates/list", "resourceTemplates", MOST_LISTED)
            patterns = await self._asked(asked, _LINK_SECONDS, "list the patterns of its resources")
        return self._link.cleaned(text_of_list(found, patterns))

    async def _has_resources(self) -> bool:
        """Return whether there is anything to read: servers of some libraries say that they have resources, and have none.

        What goes wrong is a no: a login may be for tools alone, and these are there.
        """
        session = (await self._ready).quiet()
        for method, field in (("resources/list", "resources"), ("resources/templates/list", "resourceTemplates")):
            with contextlib.suppress(ParachuteError):
                if await self._asked(session.listed(method, field, 0), _PROBE_SECONDS, f"list its {field}"):
                    return True
        return False

    async def read(self, address: str, seconds: float) -> str:
        """The text of a resource; error: Unavailable."""
        session = await self._ready
        asked = session.ask("resources/read", {"uri": address})
        read = await self._asked(asked, seconds, f"give {address[:200]}")
        return self._link.cleaned("\n".join(texts_in(read))) or "The resource is empty."

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
        self, asking: Coroutine[Any, Any, Answer], seconds: float, what: str, silence: Silence | None = None
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
        from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

        try:
            async with self._link.streams() as (read, write):
                self._is_open = True
                dispatcher: Dispatcher[Any] = JSONRPCDispatcher(read, write)
                async with ClientSession(
                    dispatcher=dispatcher, message_handler=self._hear, elicitation_callback=self._elicit
                ) as session:
                    waits: list[asyncio.Future[Any]] = [
                        asyncio.ensure_future(event.wait()) for event in (self._leave, self._link.ended)
                    ]
                    try:
                        ready = asyncio.ensure_future(introduced(self._name, session, dispatcher))
                        waits.append(ready)
                        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                        if not ready.done():
                            raise self._link.error()
                        self._ready.set_result(ready.result())
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
        from mcp.types import ResourceListChangedNotification, ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification | ResourceListChangedNotification):
            self._changed()

    async def _elicit(self, context: Any, params: Any) -> Any:
        """Have the owner asked for what a server wants during a call; whatever goes wrong is an answer to it."""
        from mcp.types import ElicitResult, ErrorData

        if not self._calls:
            return ErrorData(code=_INVALID_REQUEST, message="The owner is asked only while a tool works.")
        said = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        work = Work.of((each.tool, session) for each, session in self._calls.items())
        asking = asyncio.create_task(self._ask_owner(work, said, self._link.cleaned), name=f"owner of {self._name}")
        self._owners[asking] = calls = frozenset(self._calls)
        try:
            await asyncio.wait({asking})
            answer = ElicitResult(action="cancel") if asking.cancelled() else ElicitResult(**asking.result())
        except InvalidInput as error:
            return ErrorData(code=_INVALID_PARAMS, message=error.message)
        finally:
            asking.cancel()
            del self._owners[asking]
        # The owner was really asked: a request that was refused lets the server neither send more nor work longer.
        for silence in calls & self._calls.keys():
            silence.heard()
        return answer

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
