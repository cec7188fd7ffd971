"""Reading `hooks.yaml` and the folder of scripts; a wrong word in the file is an error that names its line."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from parachute.base.documents import Bounds, NotYaml, compose, line_of, value_of
from parachute.errors import InvalidInput
from parachute.events.models import checked_patterns
from parachute.files import atomic_write, private_folder, read_regular
from parachute.hooks.commands import shown_name
from parachute.hooks.models import DEFAULT_SECONDS, MOST_SECONDS, SCRIPTS, Hook

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
# 0 well (JSON on standard output is read), 2 stop what is about to happen (session.start), others are logged.
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

  context.limit.approaching:
    - type: command
      command: "python -m parachute.hooks.defaults.flush_memory"
      timeout: 300
      async: true
      description: "Adds to parachute/memory.md what would be lost when a long conversation is cut."
"""


@dataclass(frozen=True, slots=True)
class Configuration:
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
    """Read the file, and the folder beside it. A file with any error in it brings no hook at all."""
    scripts, problems = _scripts(root / FOLDER)
    try:
        hooks = _File(root / FILE).hooks()
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


class _File:
    """`hooks.yaml` with its lines: PyYAML's own loader forgets them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._problems: list[str] = []

    def hooks(self) -> list[Hook]:
        """All hooks; error: InvalidInput that names every wrong line."""
        try:
            root = compose(read_regular(self._path, _BOUNDS.size), _BOUNDS)
            found = self._read(root) if root is not None else []
        except FileNotFoundError:
            return []
        except NotYaml as error:
            raise InvalidInput(f"{self._path}, line {error.line}: {error.reason}") from error
        except OSError as error:
            raise InvalidInput(f"{self._path} cannot be read: {error}.") from error
        if self._problems:
            raise InvalidInput(" ".join(self._problems[:20]))
        return found

    def _read(self, root: yaml.Node) -> list[Hook]:
        hooks: list[Hook] = []
        for key, node in self._pairs(root, "the file"):
            if key != "hooks":
                self._wrong(node, f"{key!r} is unknown here; only `hooks` is allowed.")
                continue
            if self._is_empty(node):
                continue
            for event, entries in self._pairs(node, "hooks"):
                try:
                    checked_patterns([event])
                except InvalidInput as error:
                    self._wrong(entries, error.message)
                if not isinstance(entries, yaml.SequenceNode):
                    if not self._is_empty(entries):
                        self._wrong(entries, f"hooks.{event}: expected a list of commands.")
                    continue
                for entry in entries.value:
                    if len(hooks) < _HOOKS:
                        hooks += self._entry(event, entry)
                    else:
                        self._wrong(entry, f"more than {_HOOKS} hooks.")
        return hooks

    def _entry(self, event: str, node: yaml.Node) -> list[Hook]:
        before = len(self._problems)
        place = f"hooks.{event}"
        values: dict[str, Any] = {}
        for key, value in self._pairs(node, place):
            if key not in _KEYS:
                self._wrong(value, f"{place}: {key!r} is unknown; allowed are {', '.join(_KEYS)}.")
            elif not isinstance(value, yaml.ScalarNode):
                self._wrong(value, f"{place}.{key}: expected one value.")
            else:
                values[key] = value_of(value)
        for key, allowed, says in (
            ("type", lambda value: value == "command", "only `command` is allowed"),
            ("command", lambda value: _is_text(value) and value.strip(), "expected a command line"),
            ("timeout", _is_time, f"expected seconds, more than 0 and at most {MOST_SECONDS:g}"),
            ("async", lambda value: isinstance(value, bool), "expected true or false"),
            ("name", lambda value: _is_text(value) and value.strip(), "expected a text"),
            ("description", _is_text, "expected a text"),
        ):
            if key in values and not allowed(values[key]):
                self._wrong(node, f"{place}.{key}: {says}.")
        if isinstance(node, yaml.MappingNode) and "command" not in values and len(self._problems) == before:
            self._wrong(node, f"{place}: `command` is missing.")
        if len(self._problems) > before:
            return []
        return [
            Hook(
                name=values.get("name") or shown_name(values["command"]),
                event=event,
                command=values["command"],
                source=f"{FILE}:{line_of(node)}",
                timeout=float(values.get("timeout", DEFAULT_SECONDS)),
                is_async=values.get("async", False),
                description=values.get("description"),
            )
        ]

    def _pairs(self, node: yaml.Node, place: str) -> list[tuple[str, yaml.Node]]:
        if not isinstance(node, yaml.MappingNode):
            self._wrong(node, f"{place}: expected names with values.")
            return []
        return [(key.value, value) for key, value in node.value]

    @staticmethod
    def _is_empty(node: yaml.Node) -> bool:
        return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"

    def _wrong(self, node: yaml.Node, message: str) -> None:
        self._problems.append(f"{self._path}, line {line_of(node)}: {message}")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _TEXT and "\0" not in value


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= MOST_SECONDS
