"""A module ready to be called: its routes, tools, event handlers and interfaces, and how each of them is called."""

import asyncio
import dataclasses
import inspect
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parachute.base.disk_errors import DiskFull, disk_error
from parachute.base.errors import InvalidInput, NotFound, ParachuteError
from parachute.core import interfaces, runtime
from parachute.core.decorators import EventMark, RouteMark, ToolMark, marked_methods
from parachute.core.errors import ModuleError
from parachute.core.event import Event
from parachute.core.module import Module
from parachute.core.para_id import ParaId
from parachute.core.preview import Preview
from parachute.core.request import Request
from parachute.core.response import Rendered, log, refusal, render
from parachute.core.routing import Route, Routes
from parachute.core.services import ACTIONS
from parachute.core.signature import Signature
from parachute.core.values import convert, encode, schema

LIFECYCLE = ("on_enable", "on_start", "on_stop", "on_disable")


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that agents may call."""

    name: str
    description: str
    function: Callable[..., Any]
    signature: Signature
    read_only: bool = False

    @classmethod
    def of(cls, name: str, function: Callable[..., Any], description: str = "", *, read_only: bool = False) -> "Tool":
        """Read a bound function; error: ModuleError when its arguments cannot come from JSON."""
        signature = Signature.of(function)
        signature.check()
        return cls(name, description or signature.description, function, signature, read_only)


@dataclass(frozen=True, slots=True)
class Handler:
    """A function that is called for an event; one parameter may have the type Event."""

    event: str
    function: Callable[..., Any]
    signature: Signature

    @classmethod
    def of(cls, event: str, function: Callable[..., Any]) -> "Handler":
        """Read a bound function; error: ModuleError."""
        return cls(event, function, Signature.of(function))


class Application:
    """Calls a module; errors of the module's own code are logged here and never escape as anything but a ParachuteError.

    `tools` and `handlers` come from functions that the manifest names, in addition to marked methods.
    """

    def __init__(
        self,
        module: Module,
        tools: Iterable[Tool] = (),
        handlers: Iterable[Handler] = (),
        protocols: Mapping[str, type[Any]] | None = None,
    ) -> None:
        self.module = module
        routes: list[Route] = []
        self.tools: dict[str, Tool] = {}
        self.handlers: list[Handler] = []
        for name, _, mark in marked_methods(type(module)):
            method = getattr(module, name)
            if isinstance(mark, RouteMark):
                routes.append(Route.of(mark.method, mark.path, method))
            elif isinstance(mark, ToolMark):
                self._add_tool(Tool.of(mark.name, method, read_only=mark.read_only))
            elif isinstance(mark, EventMark):
                self.handlers.append(Handler.of(mark.name, method))
        for tool in tools:
            self._add_tool(tool)
        self.handlers += handlers
        self.routes = Routes(routes)
        self.accepts = _accepted(module)
        self.interfaces = {name: _provided(module, name, (protocols or {}).get(name)) for name in module.provides}

    def _add_tool(self, tool: Tool) -> None:
        if tool.name in self.tools:
            raise ModuleError(f"Two functions are the tool {tool.name}.", key="tool_taken")
        self.tools[tool.name] = tool

    def describe(self) -> dict[str, Any]:
        """The description that the server needs to call this module."""
        return {
            "name": self.module.name,
            "version": self.module.version,
            "routes": [route.describe() for route in self.routes],
            "mcp_tools": [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.signature.schema(),
                    "read_only": tool.read_only,
                }
                for tool in self.tools.values()
            ],
            "accepts": self.accepts,
            "events": sorted({handler.event for handler in self.handlers}),
            "provides": [
                {"name": name, "methods": {method: list(signature.names) for method, signature in methods.items()}}
                for name, methods in self.interfaces.items()
            ],
        }

    async def lifecycle(self, step: str) -> None:
        """Call on_enable, on_start, on_stop or on_disable; error: ModuleError."""
        if step not in LIFECYCLE:
            raise NotFound(f"{step[:40]!r} is no step; there are {', '.join(LIFECYCLE)}.", key="unknown_step")
        await self._guarded(step, getattr(self.module, step), {})

    async def respond(self, request: Request) -> Rendered:
        """Answer a request; every error becomes an answer, too."""
        where = f"{request.method} {request.path[:200]}"
        try:
            route, found = self.routes.find(request.method, request.path)
            arguments = await route.arguments(request, found)
            value = await self._guarded(where, route.function, arguments)
            try:
                return await render(value, where)
            except ParachuteError:
                raise
            except Exception as error:  # said by a stream before its first event
                raise self._failed(where, error) from error
        except ParachuteError as error:
            answer = refusal(error)
            if "allow" in error.fields:
                answer.headers["allow"] = error.fields["allow"]
            return answer

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Call a tool and return its text; errors: NotFound, InvalidInput, and what the tool raises."""
        tool = self.tools.get(name)
        if tool is None:
            raise NotFound(f"{self.module.name} has no tool {name[:64]!r}.", key="unknown_tool")
        value = await self._guarded(name, tool.function, tool.signature.bind(arguments, strict=True))
        if inspect.isasyncgen(value):
            raise ModuleError(f"{name}: a tool returns one result, it cannot yield.", key="tool_yields")
        if value is None:
            return ""
        return value if isinstance(value, str) else encode(value).decode()

    async def deliver(self, event: Event) -> int:
        """Call every handler of an event and return how many there are; all are called, then the first error is raised."""
        first: ParachuteError | None = None
        handlers = [handler for handler in self.handlers if handler.event == event.name]
        for handler in handlers:
            try:
                whole = {entry.name: event for entry in handler.signature.parameters if entry.kind is Event}
                # What a newer publisher adds to the data, an older handler does not know.
                arguments = handler.signature.bind(event.data, strict=False, taken=whole)
                await self._guarded(f"{handler.signature.name} for {event.name}", handler.function, arguments)
            except ParachuteError as error:
                first = first or error
        if first is not None:
            raise first
        return len(handlers)

    async def resolve(self, para_id: str) -> Any:
        """The thing that a para-id of this module stands for; error: NotFound."""
        if ParaId.parse(para_id).module != self.module.name:
            raise NotFound(f"{para_id} does not belong to {self.module.name}.", key="para_id_of_other")
        value = await self._guarded("resolve_para_id", self.module.resolve_para_id, {"para_id": para_id})
        if value is None:
            raise NotFound(f"{self.module.name} knows no {para_id}.", key="para_id_unknown")
        encode(value)
        return value

    async def apply_suggestion(self, suggestion_id: str, change: Mapping[str, Any]) -> Any:
        """Have the module make a change that the user approved, and give what it says of it; errors: what it raises."""
        self._check_change(change)
        arguments = dict(change)
        if "suggestion_id" in Signature.of(self.module.apply_suggestion).names:
            arguments["suggestion_id"] = suggestion_id
        return _said(await self._guarded("apply_suggestion", self.module.apply_suggestion, arguments))

    async def applied_suggestion(self, suggestion_id: str, change: Mapping[str, Any]) -> tuple[bool, Any]:
        """Ask whether a change was made whose process was killed, with the module's result; errors: what it raises where it does not know."""
        arguments = {"suggestion_id": suggestion_id, **change}
        value = await self._guarded("applied_suggestion", self.module.applied_suggestion, arguments)
        return value is not None, _said(value)

    async def check_suggestion(self, change: Mapping[str, Any]) -> None:
        """Have the module check a change that is proposed; errors: what it raises."""
        self._check_change(change)
        arguments = {name: change[name] for name in ("action", "target_id", "payload")}
        await self._guarded("check_suggestion", self.module.check_suggestion, arguments)

    async def preview_suggestion(self, change: Mapping[str, Any]) -> Preview | None:
        """Have the module tell what a change would make, None if it cannot; errors: what it raises of one that cannot be made."""
        self._check_change(change)
        arguments = {name: change[name] for name in ("action", "target_id", "payload")}
        value = await self._guarded("preview_suggestion", self.module.preview_suggestion, arguments)
        if value is None:
            return None
        if not isinstance(value, Preview):
            raise ModuleError(f"{self.module.name}.preview_suggestion returned no Preview.", key="preview_invalid")
        encode(value)  # here, where the mistake was made
        return value

    async def undo_suggestion(self, change: Mapping[str, Any], keep: Any, result: Any) -> Any:
        """Have the module take a change back, and give the version that its thing has then; errors: what it raises."""
        arguments = {name: change[name] for name in ("action", "target_id", "payload")}
        arguments |= {"keep": keep, "result": result}
        await self._guarded("undo_suggestion", self.module.undo_suggestion, arguments)
        if change["target_id"] is None:
            return None
        found = await self._guarded("resolve_para_id", self.module.resolve_para_id, {"para_id": change["target_id"]})
        return found.get("version") if isinstance(found, dict) else None

    def _check_change(self, change: Mapping[str, Any]) -> None:
        kinds, action = self.module.accepts, change["action"]
        if not kinds:
            return
        if action not in kinds:
            raise InvalidInput(f"action: {self.module.name} takes {', '.join(kinds)} only.", key="action_not_accepted")
        convert(change["payload"], kinds[action], "payload")

    async def call_interface(self, interface: str, method: str, arguments: Mapping[str, Any]) -> Any:
        """Call a method of an interface that this module provides; errors: NotFound, InvalidInput, and what it raises."""
        signature = self.interfaces.get(interface, {}).get(method)
        if signature is None:
            raise NotFound(
                f"{self.module.name} does not provide {interface[:60]}.{method[:60]}.", key="interface_not_provided"
            )
        bound = signature.bind(arguments, strict=True)
        value = await self._guarded(f"{interface}.{method}", getattr(self.module, method), bound)
        encode(value)  # here, where the mistake was made
        return value

    async def _guarded(self, where: str, function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
        # Anew at each call: a test may have started the module in another task.
        runtime.enter(self.module.core)
        try:
            if inspect.isasyncgenfunction(function):
                return function(**arguments)
            if inspect.isgeneratorfunction(function):
                return _in_thread(function(**arguments))
            if inspect.iscoroutinefunction(function):
                return await function(**arguments)
            # A plain function may take its time; others must be answered meanwhile.
            value = await asyncio.to_thread(function, **arguments)
            return await value if inspect.isawaitable(value) else value
        except ParachuteError:
            raise
        except Exception as error:
            raise self._failed(where, error) from error

    def _failed(self, where: str, error: Exception) -> ParachuteError:
        log.error("%s failed", where, exc_info=error)
        known = disk_error(error)
        if isinstance(known, DiskFull) or (known and self._is_own(error)):
            return known
        return ModuleError(
            f"The module {self.module.name} failed with {type(error).__name__}.",
            f"Its log says where: `parachute logs module@{self.module.name}`.",
            status=500,
            key="module_failed",
        )

    def _is_own(self, error: Exception) -> bool:
        """True if it is about a file that the module may write; all else is read-only to it, and no disk is to blame for that."""
        if hasattr(error, "sqlite_errorcode"):
            return True
        named = getattr(error, "filename", None)
        return isinstance(named, str) and Path(named).is_relative_to(self.module.core.data)


def _provided(module: Module, name: str, protocol: type[Any] | None) -> dict[str, Signature]:
    """The methods of an interface that the module provides; error: ModuleError when one is missing or differs."""
    protocol = interfaces.KNOWN.get(name, protocol)
    if protocol is None:
        raise ModuleError(
            f"{module.name} provides {name}, but no Protocol describes it.",
            f"Write `class {name}(Protocol)` with its methods, and import it in the module's file.",
            key="interface_unknown",
        )
    found: dict[str, Signature] = {}
    for method, wanted in interfaces.methods_of(protocol).items():
        function = getattr(module, method, None)
        if not callable(function):
            raise ModuleError(
                f"{module.name} provides {name}, and its class has no method {method}.", key="method_missing"
            )
        signature = Signature.of(function)
        expected = Signature.of(wanted, skip=1)
        required = [parameter.name for parameter in signature.parameters if parameter.required]
        if wrong := interfaces.differs(wanted, signature.names, required, rest=signature.rest):
            raise ModuleError(f"{module.name}.{method} {wrong}, as {name} says.", key="method_differs")
        expected.check()
        found[method] = expected
    return found


def _accepted(module: Module) -> dict[str, dict[str, Any]]:
    """The JSON schema of each change that the module takes; error: ModuleError for what is no change."""
    for action, kind in module.accepts.items():
        if action not in ACTIONS or not isinstance(kind, type) or not dataclasses.is_dataclass(kind):
            raise ModuleError(
                f"{module.name}.accepts: {action!r} must be one of {', '.join(ACTIONS)}, with a dataclass of its payload.",
                key="accepts_invalid",
            )
    return {action: schema(kind, f"{module.name}.accepts.{action}") for action, kind in module.accepts.items()}


def _said(value: Any) -> Any:
    """Check a module's result of a change that is made; an error would mean that it was not."""
    try:
        return json.loads(encode(value))
    except ModuleError as error:
        log.error("What the module returned of a suggestion is left out: %s", error)
        return None


async def _in_thread(values: Iterator[Any]) -> AsyncIterator[Any]:
    """Values of a plain generator, each made outside of the event loop."""
    end = object()
    while (value := await asyncio.to_thread(next, values, end)) is not end:
        yield value
