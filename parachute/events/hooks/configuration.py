"""The reader of `hooks.yaml` and the folder of scripts; an unknown word in the file is an error with its line."""

import os
import re
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from parachute.base.document_values import Value
from parachute.base.documents import Bounds
from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, private_folder, read_regular
from parachute.base.typed_documents import DocumentInvalid, read_document
from parachute.events.bus.models import checked_patterns
from parachute.events.hooks.commands import shown_name
from parachute.events.hooks.models import DEFAULT_SECONDS, MOST_SECONDS, SCRIPTS, Hook

FILE = "hooks.yaml"
FOLDER = "hooks"

_BOUNDS = Bounds()
_HOOKS = 200
_TEXT = 4000
_SCRIPT = re.compile(r"(on(?:-[a-z0-9_]+)+)(\.[A-Za-z0-9]+)?")
_KEYS = ("type", "command", "timeout", "async", "name", "description")
_HIDDEN = (".", "_")

FIRST_FILE = """\
# Commands that run when something happens. They get JSON on standard input, and the exit code says how it went:
# 0 well (JSON on standard output is read), 2 stop what is about to happen (session.start, context.review), others are logged.
# After a change: parachute hooks approve
hooks:
  session.start:
    - type: command
      command: "python -m parachute.hooks.defaults.load_context"
      timeout: 5
      description: "Tells a new conversation the newest notes of the vault's parachute/memory.md."

  session.end:
    - type: command
      command: "python -m parachute.hooks.defaults.activity_summary"
      description: "Adds a line about each conversation to the vault's .parachute/activity folder."
    - type: command
      command: "python -m parachute.hooks.defaults.summarise"
      timeout: 300
      async: true
      description: "Asks the model what is worth remembering, and adds it to parachute/memory.md."

  context.review:
    - type: command
      command: "python -m parachute.hooks.defaults.curator"
      timeout: 5
      description: "Has every AGENTS.md reviewed that watches one which has changed."

  context.limit.approaching:
    - type: command
      command: "python -m parachute.hooks.defaults.flush_memory"
      timeout: 300
      async: true
      description: "Adds to parachute/memory.md what would be lost when a long conversation is cut."
"""


class Configuration(Struct, frozen=True):
    """All hooks that are written down, in the order in which they run, and what is wrong with the rest."""

    hooks: tuple[Hook, ...] = ()
    problems: tuple[str, ...] = ()


def signature(root: Path) -> tuple[object, ...]:
    """Something that differs after every change of what `read` reads; costs two calls of the kernel."""
    seen: list[object] = []
    for name in (FILE, FOLDER):
        try:
            status = (root / name).stat()
            seen.append((status.st_mtime_ns, status.st_size, status.st_ino))
        except OSError:
            seen.append(None)
    return tuple(seen)


def install(root: Path) -> None:
    """Write the first `hooks.yaml` where there was never one; one that was removed does not come back."""
    folder = root / FOLDER
    if not folder.exists() and not (root / FILE).exists():
        atomic_write(root / FILE, FIRST_FILE)
    private_folder(folder)


def read(root: Path) -> Configuration:
    """Read the file, and the folder of hooks next to it. A file with any error in it brings no hook at all."""
    scripts, problems = _scripts(root / FOLDER)
    try:
        hooks = _hooks(root / FILE)
    except InvalidInput as error:
        return Configuration(tuple(scripts), (error.message, *problems))
    return Configuration((*hooks, *scripts), tuple(problems))


def _scripts(folder: Path) -> tuple[list[Hook], list[str]]:
    hooks: list[Hook] = []
    problems: list[str] = []
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if not entry.name.startswith(_HIDDEN))
    except OSError:
        return [], []
    for name in names[:_HOOKS]:
        path = folder / name
        match = _SCRIPT.fullmatch(name)
        if match is None or not path.is_file():
            if name.startswith("on-"):
                problems.append(f"{path}: a script is a file named such as on-session-end.py.")
            continue  # other files belong to the scripts
        event = SCRIPTS.get(match[1], match[1].removeprefix("on-").replace("-", "."))
        try:
            checked_patterns([event])
        except InvalidInput:
            problems.append(f"{path}: {event!r} is not the name of an event.")
            continue
        # Any other script says itself what runs it.
        command = f"python {name}" if match[2] == ".py" else f"./{name}"
        hooks.append(Hook(match[1], event, command, f"{FOLDER}/{name}"))
    return hooks, problems


def _hooks(path: Path) -> list[Hook]:
    """All hooks of the file; error: InvalidInput that names every wrong line."""
    try:
        return read_document(read_regular(path, _BOUNDS.size), "the file", _read, _BOUNDS)
    except FileNotFoundError:
        return []
    except DocumentInvalid as error:
        raise InvalidInput(
            " ".join(f"{path}, {problem}" for problem in error.problems[:20]), key="hooks_invalid"
        ) from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error}.", key="hooks_unreadable") from error


def _read(root: Value) -> list[Hook]:
    hooks: list[Hook] = []
    events = None if root.is_null else root.fields(("hooks",)).get("hooks")
    for event, entries in ({} if events is None or events.is_null else events.named()).items():
        entries.attempt(partial(_check_event, event), None)
        hooks += entries.attempt(partial(Value.each, read=partial(_hook, event)), ())
    if len(hooks) > _HOOKS:
        root.refuse(f"There are more than {_HOOKS} hooks.")
    return hooks


def _check_event(event: str, entries: Value) -> None:
    checked_patterns([event])


def _hook(event: str, entry: Value) -> Hook:
    fields = entry.fields(_KEYS, ("command",))
    values: dict[str, Any] = {name: field.raw for name, field in fields.items()}
    for name, is_allowed, sentence in (
        ("type", lambda value: value == "command", "Only `command` is allowed."),
        ("command", lambda value: _is_text(value) and value.strip(), "A command line is expected."),
        ("timeout", _is_time, f"Seconds are expected, more than 0 and at most {MOST_SECONDS:g}."),
        ("async", lambda value: isinstance(value, bool), "Write true or false."),
        ("name", lambda value: _is_text(value) and value.strip(), "A text is expected."),
        ("description", _is_text, "A text is expected."),
    ):
        if name in values and not is_allowed(values[name]):
            fields[name].refuse(sentence)
    return Hook(
        name=values.get("name") or shown_name(values["command"]),
        event=event,
        command=values["command"],
        source=f"{FILE}:{entry.line}",
        timeout=float(values.get("timeout", DEFAULT_SECONDS)),
        is_async=values.get("async", False),
        description=values.get("description"),
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _TEXT and "\0" not in value


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= MOST_SECONDS
