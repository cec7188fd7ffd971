"""`@route`, `@mcp_tool` and `@event`: they only mark a method; the marks are read when the module is loaded."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from parachute.core.errors import ModuleError
from parachute.core.event import EVENT_NAME

Function = TypeVar("Function", bound=Callable[..., Any])

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
TOOL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
SUGGEST_TOOL = "suggest"
"""A tool of the computer's own, by which agents make suggestions; no module has one of this name."""

_ATTRIBUTE = "__parachute_marks__"


@dataclass(frozen=True, slots=True)
class RouteMark:
    """The method answers this method and path, below /api/{name of the module}."""

    method: str
    path: str


@dataclass(frozen=True, slots=True)
class ToolMark:
    """The method is an MCP tool with this name; `read_only`: it changes nothing."""

    name: str
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class EventMark:
    """The method wants to know when this event happens."""

    name: str


Mark = RouteMark | ToolMark | EventMark


def route(method: str, path: str) -> Callable[[Function], Function]:
    """Answer an HTTP method and a path, such as `@route("GET", "/entries/{id}")`; `{rest:path}` takes slashes as well."""
    if method.upper() not in METHODS:
        raise ModuleError(f"route: {method!r} is not a method; allowed are {', '.join(METHODS)}.", key="unknown_method")
    if not path.startswith("/") or path.startswith("/_parachute"):
        raise ModuleError(
            f"route: the path {path!r} must begin with / and not with /_parachute.", key="path_not_allowed"
        )
    return _marking(RouteMark(method.upper(), path))


def mcp_tool(name: str, *, read_only: bool = False) -> Callable[[Function], Function]:
    """Offer the method to agents as a tool; its description and its arguments come from the docstring and the signature.

    `read_only`: it changes nothing. Others wait for the user's word once a conversation has read what others wrote.
    """
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
        raise ModuleError(
            f"mcp_tool: {name!r} is not a name; 1 to 64 letters, digits, _ or - are allowed.", key="tool_name_invalid"
        )
    return _marking(ToolMark(name, read_only))


def event(name: str) -> Callable[[Function], Function]:
    """Call the method when something happens; its parameters are fields of the event's data."""
    if not isinstance(name, str) or not EVENT_NAME.fullmatch(name):
        raise ModuleError(
            f"event: {name!r} is not a name; write one such as daily.entry.created.", key="event_name_invalid"
        )
    return _marking(EventMark(name))


def marked_methods(module: type) -> Iterator[tuple[str, Callable[..., Any], Mark]]:
    """Name, function and mark of every marked method of a class, in the order of the source, those of its bases first."""
    found: dict[str, Any] = {}
    for base in reversed(module.__mro__):
        found.update(vars(base))
    for name, function in found.items():
        for mark in getattr(function, _ATTRIBUTE, ()):
            yield name, function, mark


def _marking(mark: Mark) -> Callable[[Function], Function]:
    def apply(function: Function) -> Function:
        if not callable(function):
            raise ModuleError(f"{type(mark).__name__}: put it directly above a method.", key="not_a_method")
        # Decorators run from the bottom up, and people read from the top down.
        setattr(function, _ATTRIBUTE, (mark, *getattr(function, _ATTRIBUTE, ())))
        return function

    return apply
