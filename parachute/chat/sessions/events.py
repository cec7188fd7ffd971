"""One line of a transcript, made safe to read: an agent can write anything into its own transcript."""

import json
import math
import re
from datetime import datetime
from typing import Any

from msgspec import Struct

from parachute.chat.sessions.speakers import attribute
from parachute.llm.gateway.endpoint import NOT_IN_TURN

BOUNDARY = "compact_boundary"
"""The `subtype` of the line from which on the model is sent a summary of what was said before."""

_READ = frozenset({"user", "assistant", "system", "attachment"})
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})")
_EXACT = 2**53  # larger integers are not exact in JSON as most programs read it

_QUOTED = re.compile(r"<imported_conversation>\n(?:(?!>|</)[^\n]*\n)*(?:>[^\n]*\n)*</imported_conversation>\n\n")
"""A quotation that `runs.quoting` put before a message in its own block in earlier versions, with the lines above it."""

_PUT_BEFORE = re.compile(
    r"<(context|prior_conversation|imported_conversation|interrupted_turn)>\n.*\n</\1>\n\n", re.DOTALL
)
"""A block that `runs.history` puts before a message."""

_CUT_OFF = re.compile(r"<interrupted_turn>\nuser: (.*?)(\n\nassistant: .*)?\n</interrupted_turn>\n\n", re.DOTALL)
"""A block of `runs.history` with a turn that left nothing else in the transcript: a person's words, and what an agent had answered."""

_ATTACHED = re.compile(r"\[Attached: ([\w.-]{1,255})(?:, [^\n]*)?\](?:\n```\n.*\n```)?", re.DOTALL)
"""A block of `runs.attachments` that names a file, perhaps with its text."""

ONLY_FILES = "[Only files, without words]"
"""The last block of a message of which nobody wrote anything: what stands before it would be taken for a person's words."""

SHOWN_TOOLS = {"Agent": "Task"}
"""The names that the app knows tools by (contract, section 3) where the agent's program has others."""

_FILLER = "No response requested."
"""Text of the agent's program where the answer to a message is missing, so that the next one may follow."""

_DEPTH = 200
_GLUED = 20
_MARK = b"\xef\xbb\xbf"
_BEGINNING = b'{"parentUuid":'

_TEXTS = ("subtype", "uuid", "parentUuid")
_OURS = ("said", "attachments", "before")
"""Members that are added here, and never believed of a file."""

_SWITCHES = ("isCompactSummary", "isMeta", "isSidechain")


def apart(line: bytes) -> list[bytes]:
    """The lines that stand in one: a program went on behind what another one had left unfinished."""
    lines: list[bytes] = []
    while len(lines) < _GLUED and (place := line.find(_BEGINNING, 1)) > 0 and not _is_json(line):
        lines.append(line[:place] + b"\n")
        line = line[place:]
    return [*lines, line]


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line.removeprefix(_MARK))
    except (ValueError, RecursionError):
        return False
    return True


class Row(Struct):
    """A line of a transcript: its id and the one that it follows, and its event with its JSON if it is shown.

    `leaf` is told by a line that says where the conversation stands: the id of a row, None for its beginning, and if a person went there.
    """

    id: str | None = None
    parent: str | None = None
    is_linked: bool = False
    is_aside: bool = False
    leaf: tuple[str | None, bool] | None = None
    shown: tuple[dict[str, Any], bytes] | None = None


def event_of(line: bytes) -> tuple[dict[str, Any], bytes] | None:
    """The event of a line, and its JSON in UTF-8; None for what is none, or is not shown."""
    row = row_of(line)
    return row.shown if row else None


def row_of(line: bytes) -> Row | None:
    """The row of a line, None for what is none.

    Members that the app reads have the type that it casts to (contract, section 2), or are left out. What a message's own
    author wrote is in `said` where files went with it; they are in `attachments`. What was put before the message for the
    model alone is not in the JSON, and in the event as `before`.
    """
    line = line.removeprefix(_MARK)
    try:
        return _read(line)
    except (ValueError, TypeError, RecursionError):
        # The line of a program that was killed, or one that is longer than we read; the next program may have gone on in it.
        place = line.rfind(_BEGINNING, 1)
    try:
        return _read(line[place:]) if place > 0 else None
    except (ValueError, TypeError, RecursionError):
        return None


def _read(line: bytes) -> Row | None:
    event = json.loads(line.decode(), parse_constant=_finite, parse_float=_finite)
    if not isinstance(event, dict):
        return None
    row = _row(event)
    row.shown = _shown(event, line)
    return row


def _row(event: dict[str, Any]) -> Row:
    leaf = event.get("leafUuid")
    if event.get("type") == "last-prompt":
        is_explicit = event.get("explicit") is True
        told = isinstance(leaf, str) or (leaf is None and is_explicit)
        return Row(leaf=(leaf, is_explicit) if told else None)
    name, parent = event.get("uuid"), event.get("parentUuid")
    if parent is None and event.get("subtype") == BOUNDARY:
        parent = event.get("logicalParentUuid")  # what was summarized is still shown
    return Row(
        id=name if isinstance(name, str) else None,
        parent=parent if isinstance(parent, str) else None,
        is_linked="parentUuid" in event and isinstance(parent, str | None),
        is_aside=event.get("isSidechain") is True,
    )


def _shown(event: dict[str, Any], line: bytes) -> tuple[dict[str, Any], bytes] | None:
    if event.get("type") not in _READ or event.get("isSidechain") is True:
        return None
    if _is_of_program(event):
        return None
    if line.count(b"[") + line.count(b"{") > _DEPTH and _is_deep(event):
        return None
    is_left, is_changed = attribute(event)
    if not is_left:
        return None
    is_changed |= _clean(event)
    before = _take_apart(event) if event["type"] == "user" and "message" in event else None
    is_changed |= event["type"] == "assistant" and "message" in event and _take_files(event)
    if is_changed or before is not None:
        line = json.dumps(event, ensure_ascii=False).encode(errors="replace")
    if before:
        event["before"] = before
    return event, line.strip()


def _clean(event: dict[str, Any]) -> bool:
    wrong = [name for name in _TEXTS if not isinstance(event.get(name), str | None)]
    wrong += [name for name in _SWITCHES if not isinstance(event.get(name), bool | None)]
    wrong += [name for name in _OURS if name in event]
    if "timestamp" in event and not _is_time(event["timestamp"]):
        wrong.append("timestamp")
    changed = bool(wrong)
    if "message" in event:
        message = event["message"]
        if isinstance(message, dict) and isinstance(message.get("content"), str | list):
            changed |= _clean_message(message)
        else:
            wrong.append("message")
            changed = True
    for name in wrong:
        del event[name]
    answered = event.get("toolUseResult")
    if isinstance(answered, dict) and isinstance(answered.get("answers"), dict):
        # The app reads the answers to a question from the tool's result, as JSON; the program writes a sentence there.
        changed |= _replace_results(event, json.dumps({"answers": answered["answers"]}, ensure_ascii=False))
    elif (report := report_of(answered)) is not None:
        changed |= _replace_results(event, report)
    return changed


def report_of(answered: Any) -> str | None:
    """The report of a helper of the agent, from the data of its call's result; None for other calls.

    The result itself has words around it by which the program tells the model who speaks.
    """
    if not isinstance(answered, dict) or not isinstance(answered.get("agentType"), str):
        return None
    blocks, notes, rest = (answered.get(name) for name in ("content", "harnessNoteCount", "harnessTailCount"))
    if not isinstance(blocks, list):
        return None
    begin, end = (count if isinstance(count, int) and count > 0 else 0 for count in (notes, rest))
    texts = [block.get("text") for block in blocks[begin : len(blocks) - end] if isinstance(block, dict)]
    return "\n\n".join(text for text in texts if isinstance(text, str)).strip()


def _is_of_program(event: dict[str, Any]) -> bool:
    """Return True for what no person and no model said: a filler, or that a command in the background has ended, between two turns.

    The program asks the model about the latter, which the gateway refuses; the next message brings it to the model.
    """
    origin, message = event.get("origin"), event.get("message")
    if isinstance(origin, dict) and origin.get("kind") == "task-notification":
        return True
    if not isinstance(message, dict):
        return False
    if message.get("model") == "<synthetic>" and message.get("content") == [{"type": "text", "text": _FILLER}]:
        return True
    return event.get("isApiErrorMessage") is True and NOT_IN_TURN in str(message)


def _clean_message(message: dict[str, Any]) -> bool:
    wrong = [name for name in ("model",) if not isinstance(message.get(name), str | None)]
    wrong += [name for name in ("isCompactSummary",) if not isinstance(message.get(name), bool | None)]
    for name in wrong:
        del message[name]
    if isinstance(message["content"], str):
        return bool(wrong)
    changed = bool(wrong)
    kept = []
    for block in message["content"]:
        if isinstance(block, dict) and block.get("type") == "tool_result" and block.get("content") is None:
            block["content"], changed = "", True
        if isinstance(block, dict) and _is_block(block):
            kept.append(block)
            if block["type"] == "tool_use" and block["name"] in SHOWN_TOOLS:
                block["name"], changed = SHOWN_TOOLS[block["name"]], True
    changed |= len(kept) != len(message["content"])
    message["content"] = kept
    return changed


def _take_apart(event: dict[str, Any]) -> str | None:
    """Take what was put before a message out of it, and note the files that went with it; what was taken, None if nothing changed.

    Only the last block is written by the person: what stands in it is never taken for something else.
    """
    message = event["message"]
    content = message["content"]
    if isinstance(content, str):
        quoted = _QUOTED.match(content)
        message["content"] = content[quoted.end() :] if quoted else content
        return quoted[0] if quoted else None
    texts = [block for block in content if block["type"] == "text"]
    if not texts:
        return None
    said, before, files, taken = [], [], [], ""
    for block in texts[:-1]:
        if found := _CUT_OFF.fullmatch(block["text"]):
            # The agent's words never become the person's.
            block["text"], answered = found[1], found[2]
            said.append(found[1])
            taken += f"<interrupted_turn>{answered}\n</interrupted_turn>\n\n" if answered else ""
        elif _PUT_BEFORE.fullmatch(block["text"]):
            before.append(block)
            taken += block["text"]
        elif _ATTACHED.fullmatch(block["text"]):
            files.append(block)
    last = texts[-1]
    if not taken and (quoted := _QUOTED.match(last["text"])):
        taken, last["text"] = quoted[0], last["text"][quoted.end() :]
    if files:
        if last["text"] == ONLY_FILES:
            last["text"] = ""
        _note_files(event, files, last, "\n\n".join(filter(None, (*said, last["text"]))))
    message["content"] = [block for block in content if not any(block is each for each in (*before, *files))]
    return taken if taken or said or files else None


def _take_files(event: dict[str, Any]) -> bool:
    """Note the files that went with an answer, as imports bring them; False where there are none."""
    content = event["message"]["content"]
    if isinstance(content, str) or len(content) < 2 or any(block["type"] != "text" for block in content):
        return False
    *files, last = content
    if not all(_ATTACHED.fullmatch(block["text"]) for block in files):
        return False
    _note_files(event, files, last, last["text"])
    event["message"]["content"] = [last]
    return True


def _note_files(event: dict[str, Any], files: list[dict[str, Any]], last: dict[str, Any], said: str) -> None:
    event["said"] = said
    event["attachments"] = [match[1] for block in files if (match := _ATTACHED.fullmatch(block["text"]))]
    # For the app it is one text.
    last["text"] = "\n\n".join(filter(None, (block["text"] for block in (*files, last))))


def _is_block(block: dict[str, Any]) -> bool:
    def has(kind: type, *names: str) -> bool:
        return all(isinstance(block.get(name), kind) for name in names)

    match block.get("type"):
        case "text":
            return has(str, "text")
        case "thinking":
            return has(str, "thinking")
        case "tool_use":
            return has(str, "id", "name") and has(dict, "input")
        case "tool_result":
            return has(str, "tool_use_id") and _is_result(block.get("content"))
        case kind:
            return isinstance(kind, str)


def _is_result(content: Any) -> bool:
    if isinstance(content, str):
        return True
    return isinstance(content, list) and all(
        isinstance(part, dict)
        and isinstance(part.get("type"), str)
        and (part["type"] != "text" or isinstance(part.get("text"), str))
        for part in content
    )


def _is_time(value: Any) -> bool:
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        try:
            datetime.fromisoformat(value)
        except ValueError:
            return False
        return True
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < _EXACT)


def _replace_results(event: dict[str, Any], shown: str) -> bool:
    content = event["message"]["content"] if "message" in event else None
    results = [block for block in content if block["type"] == "tool_result"] if isinstance(content, list) else []
    for block in results:
        block["content"] = shown
    return bool(results)


def _is_deep(value: Any) -> bool:
    """Return True if objects are nested deeper than _DEPTH, found without recursion."""
    level = [value]
    for _ in range(_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number of JSON")
    return number
