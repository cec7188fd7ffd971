"""The events of a run as a person reads them: the answer on standard output, all else dim on standard error."""

import sys
from typing import Any, Protocol

from parachute.chat.runs import events
from parachute.cli.changed_files import named
from parachute.cli.event_stream import Received
from parachute.cli.identifiers import short
from parachute.cli.output import as_json, clean, print_error, print_note, styled
from parachute.cli.wrapping import Wrapper

_ADVICE = {
    "retry": "Send the message again.",
    "settings": "Look at `parachute config` and `parachute auth status`.",
    "reauth": "Log in again: `parachute auth login`, or `claude login` where it came from there.",
    "new_session": "Begin a new conversation: leave --session out.",
}
_TOOL_FIELDS = ("command", "file_path", "notebook_path", "path", "pattern", "url", "query", "description", "prompt")
_TOOL_WIDTH = 100
_NAMES = 5
_SILENT = (events.Session, events.PromptMetadata, events.UserMessage, events.Model, events.Thinking)
"""Events that show nothing, before the first of which the agent is still thinking."""


class Printer(Protocol):
    """A view of a run's events."""

    def show(self, received: Received) -> None:
        """Show one event."""


class JsonPrinter:
    """Each event as one line of JSON."""

    def show(self, received: Received) -> None:
        print(as_json(received.document), flush=True)


class TextPrinter:
    """The text as it grows; `text` events carry the whole block each time, so only what is new is written."""

    def __init__(self) -> None:
        self._block = ""
        self._written = False  # whether there is any answer yet
        self._at_line_start = True
        self._filter = clean if sys.stdout.isatty() else str
        self._wrapper = Wrapper() if sys.stdout.isatty() else None
        self._is_thinking = False
        self._think()

    def show(self, received: Received) -> None:
        event = received.event
        if not isinstance(event, _SILENT):
            self._stop_thinking()
        match event:
            case events.PromptMetadata():
                if known := _known(event):
                    self._stop_thinking()
                    self._note(f"Knows: {known}")
                    self._think()
            case events.UserQuestion() | events.PermissionRequest() | events.TurnDone():
                self._end_line()
            case events.Text():
                self._text(event.content)
            case events.ToolUse():
                self._tool(event.tool)
            case events.ToolProgress():
                self._note(f"  {_first_line(event.message)}")
            case events.ToolResult(is_error=True):
                self._note(f"  failed: {_first_line(event.content)}")
            case events.RunWarning():
                details = "".join(f"\n  {detail}" for detail in event.details)
                self._note(f"{event.title or 'Warning'}: {event.message}{details}")
            case events.SessionUnavailable():
                self._note(event.message or event.reason or "The conversation cannot be resumed.")
            case events.PermissionDenied():
                self._note(f"  not allowed: {event.tool_name or 'a tool'}. {event.reason}".rstrip())
            case events.Aborted():
                self._note(event.message or "The run was stopped.")
            case events.InternalError():
                self._end_line()
                print_error(event.error or "The run failed.")
            case events.TypedError():
                self._end_line()
                print_error(_sentence(event), _advice(event))

    def _text(self, content: str) -> None:
        if content == self._block:
            return
        if content.startswith(self._block):
            new = content[len(self._block) :]
            if not self._block and self._written:
                self._end_line()
                new = f"\n{new}"  # an empty line between two blocks
        else:
            # What stands on the terminal cannot be taken back: go on in a new line, from the line that changed.
            self._end_line()
            new = content[_changed_line(self._block, content) :]
        self._block = content
        self._write(new)

    def _tool(self, tool: events.Tool) -> None:
        # A tool ends the block; the next text is another one, even if it begins with the same words.
        self._block = ""
        about = _step(tool) or next((str(tool.input[name]) for name in _TOOL_FIELDS if tool.input.get(name)), "")
        self._note(f"> {tool.name or 'tool'} {_first_line(about)}".rstrip())

    def _note(self, text: str) -> None:
        if sys.stdout.isatty():
            self._end_line()
        print_note(text)

    def _think(self) -> None:
        if sys.stdout.isatty() and sys.stderr.isatty():
            self._is_thinking = True
            sys.stderr.write(styled("Thinking ...", "2", sys.stderr))
            sys.stderr.flush()

    def _stop_thinking(self) -> None:
        if self._is_thinking:
            self._is_thinking = False
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def _write(self, text: str) -> None:
        shown = self._filter(text)
        self._put(self._wrapper.feed(shown) if self._wrapper else shown)

    def _put(self, shown: str) -> None:
        if shown:
            self._written = True
            self._at_line_start = shown.endswith("\n")
            sys.stdout.write(shown)
            sys.stdout.flush()

    def _end_line(self) -> None:
        if self._wrapper:
            self._put(self._wrapper.rest())
        if not self._at_line_start:
            self._write("\n")


def print_turn(session: str, turn: dict[str, Any] | None, items: list[dict[str, Any]]) -> None:
    """Print a line for each thing that a turn has left: the files that it changed, and what of its conversation waits for the owner."""
    for each in turn["changes"] if turn else ():
        if each["total"] > each["undone"]:
            files = named([file["path"] for file in each["files"]], each["total"])
            lines = f"+{each['added']} -{each['removed']}"
            print_note(f"{files}  {lines}  `parachute undo {short(session)} --run {each['run']}`")
    for item in items:
        if item["kind"] != "changes":  # a warning has said so
            print_note(f"{item['sentence']}  `parachute inbox answer {short(item['id'])}`")


def _step(tool: events.Tool) -> str:
    """The step at which an agent is, of the list of them that it keeps with TodoWrite."""
    listed = tool.input.get("todos")
    steps = [step for step in listed if isinstance(step, dict)] if isinstance(listed, list) else []
    done = sum(step.get("status") == "completed" for step in steps)
    current = next((step for step in steps if step.get("status") == "in_progress"), {})
    said = current.get("activeForm") or current.get("content") or ""
    return f"{done} of {len(steps)} done. {said}".rstrip() if steps else ""


def _known(event: events.PromptMetadata) -> str:
    """The knowledge that goes along with a message, as one line: the first names, and how much else."""
    names = [str(name) for name in event.known_names]
    shown = names[:_NAMES]
    if len(names) > _NAMES:
        shown.append(f"{len(names) - _NAMES} more")
    if entries := event.known_entries:
        shown.append("1 entry" if entries == 1 else f"{entries} entries")
    return ", ".join(shown)


def _changed_line(before: str, after: str) -> int:
    """Return the offset in `after` of the first line that differs from `before`."""
    pairs = zip(before, after, strict=False)
    same = next((index for index, (one, other) in enumerate(pairs) if one != other), min(len(before), len(after)))
    return after.rfind("\n", 0, same) + 1


def _first_line(text: str) -> str:
    line = " ".join(text.split("\n", 1)[0].split())
    return line if len(line) <= _TOOL_WIDTH else f"{line[: _TOOL_WIDTH - 3]}..."


def _sentence(event: events.TypedError) -> str:
    title, message = event.title, event.message or "The run failed."
    return message if not title or title == "Error" or message.startswith(title) else f"{title}: {message}"


def _advice(event: events.TypedError) -> str | None:
    actions = [action.get("action") for action in event.actions if isinstance(action, dict)]
    sentences = dict.fromkeys(_ADVICE[action] for action in actions if action in _ADVICE)
    return " ".join(sentences) or None
