"""JSON of any size read as a stream: one element in memory at a time, bounded in its size and depth."""

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice
from typing import Any, Protocol

ELEMENT_LIMIT = 48 * 1024 * 1024
"""Bytes, about, that one element takes in memory."""

_VALUE_COST = 100
_DEEPEST = 100
_STRING_LIMIT = 8 * 1024 * 1024
_CHUNK = 64 * 1024
_TREES = frozenset({"messages", "messagesTree"})
"""Members whose elements may hold the next ones in `children`, and these the next: LibreChat's, as deep as a conversation is long."""

_CHILDREN = "children"
_CONTAINERS = frozenset({"data", "conversations"})
_CONTAINERS_DEEP = 3

_QUOTE = re.compile(rb'(?<!\\)(?:\\\\)*"')
_TORN = re.compile(rb"(?:(?<!\\)(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)|([\xc0-\xff][\x80-\xbf]{0,2}))\Z")
_TAIL = 64
_MEMBERS, _LONGEST = 100_000, 300
_BOM = b"\xef\xbb\xbf"

Event = tuple[str, Any]


class Readable(Protocol):
    """Source that can be read, such as an entry of an archive."""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""


class Oversized:
    """Stands for an element that takes too much memory, or is nested too deeply."""


OVERSIZED = Oversized()


class InvalidJson(Exception):
    """The text is no JSON, or ends in the middle."""


class ShortStrings:
    """Passes JSON on, and cuts strings of more than 8 MB: the parser would hold each as a whole, several times."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._held = b""
        self._since_quote = 0
        self._is_begun = False

    def read(self, size: int = -1) -> bytes:
        """The next bytes, never within an escape or a character; what is asked for is not exceeded by much."""
        if size == 0:
            return b""
        while data := self._file.read(_CHUNK):
            if not self._is_begun:
                self._is_begun, data = True, data.removeprefix(_BOM)
            data, self._held = self._held + data, b""
            if torn := _TORN.search(data, max(len(data) - _TAIL, 0)):
                place = torn.start(1) if torn[1] is not None else torn.start(2)
                data, self._held = data[:place], data[place:]
            if b'"' in data and _QUOTE.search(data):
                self._since_quote = 0
            else:
                self._since_quote += len(data)
            if data and self._since_quote <= _STRING_LIMIT:
                return data
        data, self._held = self._held, b""
        return data


def elements(file: Readable, containers: frozenset[str] = _CONTAINERS) -> Iterator[Any]:
    """The elements of a list, or of the lists in the `containers` of an object, and last what else the object has.

    OVERSIZED stands for an element that is too large. Error: InvalidJson, after those before it.
    """
    import ijson

    try:
        # Not `use_float`: it gives up at the first whole number of more than 64 bits.
        yield from _elements(ijson.basic_parse(ShortStrings(file)), 0, containers)
    except (ijson.JSONError, UnicodeDecodeError, ValueError, StopIteration) as error:
        raise InvalidJson(
            str(error).strip().splitlines()[0][:200] if str(error).strip() else "it ends early"
        ) from error


def flag(file: Readable, name: str) -> bool:
    """Return whether the outermost object has a member of this name that is true; False where the text is no such thing."""
    return next((bool(value) for event, key, value in _members(file) if event == "boolean" and key == name), False)


def texts_of(file: Readable) -> Iterator[tuple[str, str]]:
    """The members of the outermost object that are texts, a hundred thousand at the most; what is no such thing ends them."""
    texts = ((key[:_LONGEST], value[:_LONGEST]) for event, key, value in _members(file) if event == "string")
    return islice(texts, _MEMBERS)


def _members(file: Readable) -> Iterator[tuple[str, str, Any]]:
    """The simple members of the outermost object: the event, the name and the value; what is wrong ends them."""
    import ijson

    depth, key = 0, None
    try:
        for event, value in ijson.basic_parse(ShortStrings(file)):
            if event.startswith("start_"):
                depth += 1
            elif event.startswith("end_"):
                depth -= 1
            elif event == "map_key":
                key = value if depth == 1 else key
            elif depth == 1 and key is not None:
                yield event, key, value
    except (ijson.JSONError, UnicodeDecodeError, ValueError):
        return  # reading it for its content says what is wrong


def _elements(events: Iterator[Event], depth: int, containers: frozenset[str]) -> Iterator[Any]:
    event, _ = _next(events)
    if event == "start_array":
        while (begin := _next(events))[0] != "end_array":
            yield _build(begin, events)
    elif event == "start_map":
        rest: dict[str, Any] = {}
        while (found := _next(events))[0] != "end_map":
            key = str(found[1])
            if key in containers and depth < _CONTAINERS_DEEP:
                yield from _elements(events, depth + 1, containers)
            elif key in _TREES:
                rest[key] = _flattened(_next(events), events)
            elif len(rest) < _VALUE_COST:
                rest[key] = _build(_next(events), events)
            else:
                _build(_next(events), events)
        if rest:
            yield rest


def _next(events: Iterator[Event]) -> Event:
    try:
        return next(events)
    except StopIteration as error:
        raise InvalidJson("it ends early") from error


def _flattened(begin: Event, events: Iterator[Event]) -> Any:
    """The objects of a tree in the order in which they begin, without their children; OVERSIZED when it has been passed over."""
    if begin[0] != "start_array":
        return _build(begin, events)
    found: list[dict[str, Any]] = []
    # Of each list and each object that is open, the object: nothing calls itself, however deep it is.
    stack: list[dict[str, Any] | None] = [None]
    budget = [ELEMENT_LIMIT]
    while stack:
        event, value = _next(events)
        top = stack[-1]
        if event in ("end_map", "end_array"):
            stack.pop()
        elif top is not None:
            first = _next(events)
            if value == _CHILDREN and first[0] == "start_array":
                stack.append(None)
            else:
                top[str(value)] = _build(first, events, budget)
            budget[0] -= _VALUE_COST + len(value)
        elif event.startswith("start_"):
            stack.append({} if event == "start_map" else None)
            found += [each for each in stack[-1:] if each is not None]
            budget[0] -= _VALUE_COST
        if budget[0] < 0:
            found.clear()
            _pass_over(events, len(stack))
            return OVERSIZED
    return found


def _build(begin: Event, events: Iterator[Event], budget: list[int] | None = None) -> Any:
    """The value that begins with an event, or OVERSIZED when all of it has been passed over; what it takes is off the budget."""
    budget = [ELEMENT_LIMIT] if budget is None else budget
    if not begin[0].startswith("start_"):
        budget[0] -= _VALUE_COST + (len(begin[1]) if begin[0] == "string" else 0)
        return float(begin[1]) if isinstance(begin[1], Decimal) else begin[1]
    root: Any = {} if begin[0] == "start_map" else []
    stack: list[Any] = [root]
    keys: list[str] = [""]
    while stack:
        event, value = _next(events)
        if event == "map_key":
            keys[-1] = value
            budget[0] -= len(value)
            continue
        if event in ("end_map", "end_array"):
            stack.pop()
            keys.pop()
            continue
        made = {} if event == "start_map" else [] if event == "start_array" else value
        if isinstance(made, Decimal):
            made = float(made)
        budget[0] -= _VALUE_COST + (len(value) if event == "string" else 0)
        if budget[0] < 0 or len(stack) > _DEEPEST:
            del root, made
            depth = len(stack) + event.startswith("start_")
            stack.clear()
            _pass_over(events, depth)
            return OVERSIZED
        top = stack[-1]
        if isinstance(top, dict):
            top[keys[-1]] = made
        else:
            top.append(made)
        if event.startswith("start_"):
            stack.append(made)
            keys.append("")
    return root


def _pass_over(events: Iterator[Event], depth: int) -> None:
    while depth:
        event, _ = _next(events)
        if event in ("start_map", "start_array"):
            depth += 1
        elif event in ("end_map", "end_array"):
            depth -= 1
