"""A reader of the chat stream that follows exactly the rules of the existing app.

The app cuts the body into lines itself and knows nothing of server-sent events beyond `data: `: a line must begin with
exactly these six characters, lines that begin with a colon are skipped, and reading stops at the first terminal event.
"""

import codecs
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

Event = dict[str, Any]

TERMINAL = frozenset({"done", "error", "typed_error", "aborted"})
PREFIX = "data: "


class LineSplitter:
    """Cut text into lines at LF, CR and CRLF only, as Dart does; `str.splitlines` would also cut at U+2028."""

    def __init__(self) -> None:
        self._rest = ""
        self._after_return = False

    def feed(self, chunk: str) -> list[str]:
        """Return the lines that `chunk` completes."""
        if self._after_return and chunk.startswith("\n"):
            chunk = chunk[1:]
            self._after_return = False
        if chunk:
            self._after_return = chunk.endswith("\r")
        *lines, self._rest = (self._rest + chunk.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
        return lines

    def finish(self) -> list[str]:
        """Return what stands after the last line end, if anything."""
        rest, self._rest = self._rest, ""
        return [rest] if rest else []


@dataclass(slots=True)
class Parser:
    """Turn lines into events, and remember every line.

    `unparsable` holds the lines that the app would log and ignore: a correct server sends none.
    """

    raw_lines: list[str] = field(default_factory=list)
    unparsable: list[str] = field(default_factory=list)

    def event(self, line: str) -> Event | None:
        """Return the event of a line, None where the app sees none."""
        self.raw_lines.append(line)
        if not line or line.startswith(":"):
            return None
        if not line.startswith(PREFIX):
            self.unparsable.append(line)
            return None
        payload = line[len(PREFIX) :].strip()
        if not payload:
            return None
        if payload == "[DONE]":
            return {"type": "done"}
        try:
            event = json.loads(payload)
        except ValueError:
            event = None
        if not isinstance(event, dict):
            self.unparsable.append(line)
            return None
        return event


class ChatStream:
    """One answer of `POST /api/chat`, read from a streaming response.

    `events` holds what the app would have seen, up to and with the first terminal event. When the server closed without
    one, the app makes up a `done`: it is appended, and `synthetic_done` is true.
    """

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self.events: list[Event] = []
        self.synthetic_done = False
        self._parser = Parser()
        self._lines = self._read_lines()

    @property
    def raw_lines(self) -> list[str]:
        """Every line that was read, without its end."""
        return self._parser.raw_lines

    @property
    def ended(self) -> bool:
        """Return whether the terminal event was read."""
        return bool(self.events) and self.events[-1].get("type") in TERMINAL

    @property
    def terminal(self) -> Event:
        """The event that ended the stream; `AssertionError` while it goes on."""
        assert self.ended, "the stream goes on"
        return self.events[-1]

    @property
    def text(self) -> str:
        """The answer that the user sees by now."""
        return text_of(self.events)

    def of_type(self, kind: str) -> list[Event]:
        """List the events of one type so far."""
        return [event for event in self.events if event.get("type") == kind]

    async def __aiter__(self) -> AsyncGenerator[Event, None]:
        """Yield the events that were not read yet, up to and with the terminal one."""
        while not self.ended:
            event = await self._next()
            if event is None:
                self.synthetic_done = True
                event = {"type": "done"}
            self.events.append(event)
            yield event

    async def collect(self) -> list[Event]:
        """Read to the terminal event and return all events."""
        async for _ in self:
            pass
        return self.events

    async def until(self, kind: str) -> Event:
        """Read to the next event of a type and return it; `AssertionError` when the stream ends before."""
        async with aclosing(aiter(self)) as events:
            async for event in events:
                if event.get("type") == kind:
                    return event
        raise AssertionError(f"the stream ended with {self.terminal} before any {kind!r} event")

    async def drain(self) -> list[Event]:
        """Read on to the end of the body, as the app does not, and return the events after the terminal one."""
        await self.collect()
        after: list[Event] = []
        while not self.synthetic_done and (event := await self._next()) is not None:
            after.append(event)
        return after

    def assert_clean(self) -> None:
        """Fail when the server sent a line other than `data: ` with a JSON object, a comment, or an empty line."""
        assert not self._parser.unparsable, f"the app cannot parse these lines: {self._parser.unparsable[:5]}"

    async def _next(self) -> Event | None:
        async for line in self._lines:
            event = self._parser.event(line)
            if event is not None:
                return event
        return None

    async def aclose(self) -> None:
        """End the reading: a generator that is left to the garbage collector fails a later test."""
        await self._lines.aclose()

    async def _read_lines(self) -> AsyncGenerator[str, None]:
        # Strict decoding, because the app's decoder throws on bytes that are no UTF-8.
        decoder = codecs.getincrementaldecoder("utf-8")()
        splitter = LineSplitter()
        async with aclosing(self.response.aiter_bytes()) as chunks:
            async for chunk in chunks:
                for line in splitter.feed(decoder.decode(chunk)):
                    yield line
        for line in splitter.feed(decoder.decode(b"", final=True)) + splitter.finish():
            yield line


@asynccontextmanager
async def chat(
    client: httpx2.AsyncClient,
    message: str,
    session_id: str = "new",
    *,
    path: str = "/api/chat",
    headers: Mapping[str, str] | None = None,
    **fields: Any,
) -> AsyncIterator[ChatStream]:
    """Send a message as the app does and read its answer; `AssertionError` on any status but 200.

    `fields` are further members of the body, in their camelCase names. Leaving the block closes the connection.
    """
    body = {"message": message, "sessionId": session_id, "module": "chat", **fields}
    async with client.stream("POST", path, json=body, headers=dict(headers or {})) as response:
        if response.status_code != 200:
            await response.aread()
            raise AssertionError(f"POST {path} answered {response.status_code}: {response.text[:500]}")
        async with aclosing(ChatStream(response)) as stream:
            yield stream


@dataclass(slots=True)
class Block:
    """One block of the answer's bubble: `kind` is text, thinking, tool, question or warning."""

    kind: str
    text: str = ""
    tool: Event = field(default_factory=dict)
    result: str | None = None
    is_error: bool = False


def bubble_of(events: list[Event]) -> list[Block]:
    """Fold events into the blocks of the bubble, as the app does.

    A text replaces the last text block wherever it stands; a tool call turns the last text block into thinking.
    """
    blocks: list[Block] = []
    for event in events:
        match event.get("type"):
            case "text":
                last = _last(blocks, "text")
                if last is None:
                    blocks.append(Block("text", event["content"]))
                else:
                    last.text = event["content"]
            case "thinking":
                blocks.append(Block("thinking", event["content"]))
            case "tool_use":
                last = _last(blocks, "text")
                if last is not None:
                    last.kind = "thinking"
                blocks.append(Block("tool", tool=event["tool"]))
            case "tool_result":
                _attach_result(blocks, event)
            case "user_question":
                asking = [block for block in blocks if block.kind == "tool"]
                asking = [block for block in asking if block.tool.get("name") == "AskUserQuestion"]
                if asking:
                    asking[-1].kind = "question"
            case "warning":
                blocks.append(Block("warning", event.get("message") or ""))
    return blocks


def text_of(events: list[Event]) -> str:
    """Return the text that the user sees as the answer, without thinking, tools and warnings."""
    return "\n\n".join(block.text for block in bubble_of(events) if block.kind == "text")


def _last(blocks: list[Block], kind: str) -> Block | None:
    return next((block for block in reversed(blocks) if block.kind == kind), None)


def _attach_result(blocks: list[Block], event: Event) -> None:
    identifier, content = event.get("toolUseId"), event.get("content")
    if identifier is None or content is None:
        return
    for block in blocks:
        if block.kind in ("tool", "question") and block.tool.get("id") == identifier:
            block.result, block.is_error = content, bool(event.get("isError"))
