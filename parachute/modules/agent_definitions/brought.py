"""The agents that a module brings in its folder `agents`: the same for the question before it is installed and for its runs."""

import re
import stat
from datetime import date
from pathlib import Path

from msgspec import Struct

from parachute.base.documents import NotYaml, child, compose, line_of
from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.core import front_matter
from parachute.core.patterns import Pattern, matches_any, parts_of
from parachute.modules.agent_definitions.definition import FILE_LIMIT, NAME, has_schedule, read_definition
from parachute.modules.agent_definitions.models import Definition

MOST = 50
"""Files of one folder that are looked at."""

_FOLDER = "agents"
_ENDING = ".md"
_RESERVED = frozenset({"status"})
"""Names that are parts of addresses."""

_ANY_DAY = date(2000, 1, 1)
_FIELD = re.compile(r"([A-Za-z_]+(?:\.[A-Za-z_]+)*): ")


class BroughtAgent(Struct, frozen=True):
    """A file with a schedule; `path` is within the module. Without a `definition` the `problem` on `line` says why."""

    name: str
    path: str
    content: str
    definition: Definition | None = None
    problem: str | None = None
    line: int = 1


def own_folder(module: str) -> str:
    """The folder of the vault in which a module's agents may lie: its name with a capital letter."""
    return module.title()


def is_name(name: str) -> bool:
    """True if an agent can have this name."""
    return bool(NAME.fullmatch(name)) and name not in _RESERVED


def brought_agents(code: Path, module: str) -> tuple[BroughtAgent, ...]:
    """The agents in a module's folder, by name; no link is followed. Waits for the disk."""
    names = [name for name in _names(code) if is_name(name)][:MOST]
    found = (_brought(code, module, name) for name in names)
    return tuple(agent for agent in found if agent is not None)


def problems_of(code: Path, module: str, write: tuple[str, ...], can_suggest: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Problems of a module's agent files, one sentence each; `write` are the patterns that the module may write. Waits for the disk.

    `can_suggest` are the modules for which agents of the manifest may make suggestions.
    """
    names = _names(code)
    if len(names) > MOST:
        return (f"{_FOLDER}: there are more than {MOST} files in it, and no more are looked at.",)
    problems: list[str] = []
    patterns = [Pattern.parse(text) for text in write]
    for name in names:
        agent = _brought(code, module, name)
        if agent is None:
            continue
        problem = agent.problem
        if not is_name(name):
            problem = (
                f"An agent cannot be called {name!r}: 1 to 64 letters, digits, `-` and `_` are allowed, not `status`."
            )
        elif agent.definition and not matches_any(patterns, parts_of(agent.definition.output_on(_ANY_DAY))):
            problem = f"output: {agent.definition.output} is not within what the manifest lets the module write."
        elif agent.definition:
            problem = suggestion_problem(agent.definition, can_suggest)
        if problem:
            line = agent.line if problem == agent.problem else _line_in_file(agent.content, problem)
            problems.append(f"{agent.path}, line {line}: {problem}")
    return tuple(problems)


def suggestion_problem(definition: Definition, allowed: tuple[str, ...]) -> str | None:
    """The problem with an agent's `can_suggest`, if the agents of its module may suggest for `allowed`."""
    outside = [name for name in definition.can_suggest if name not in allowed]
    if not outside:
        return None
    return (
        f"can_suggest: the agents of this module may not make suggestions for {outside[0]}, but for: "
        f"{', '.join(allowed) or 'none'}."
    )


def _brought(code: Path, module: str, name: str) -> BroughtAgent | None:
    path = f"{_FOLDER}/{name}{_ENDING}"
    try:
        with Folder.open(code) as folder, folder.file(path) as file:
            data = file.read(FILE_LIMIT + 1)
    except (OSError, InvalidInput):
        return None
    text = data[:FILE_LIMIT].decode(errors="replace")
    if not has_schedule(text):
        return None  # it is no agent of ours: a module may keep prompts of other agents there
    if len(data) > FILE_LIMIT:
        return BroughtAgent(name, path, "", problem=f"The file is longer than {FILE_LIMIT:,} bytes.")
    try:
        content = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return BroughtAgent(name, path, "", problem="The file is not UTF-8.", line=line)
    try:
        return BroughtAgent(name, path, content, read_definition(name, own_folder(module), content))
    except NotYaml as error:
        return BroughtAgent(name, path, content, problem=error.reason, line=error.line)
    except InvalidInput as error:
        line = _line_in_file(content, error.message)
        return BroughtAgent(name, path, content, problem=error.message, line=line)


def _names(code: Path) -> list[str]:
    """Names of all Markdown files of the folder, without their ending, in order."""
    try:
        with Folder.open(code) as root, root.folder(_FOLDER) as folder:
            return sorted(
                entry.name.removesuffix(_ENDING)
                for entry in folder.entries()
                if entry.name.endswith(_ENDING) and stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode)
            )
    except OSError:
        return []  # there is no such folder, or a link in its place


def _line_in_file(content: str, message: str) -> int:
    """The line of the file, from 1, that a message about its fields means; 1 if it is unknown."""
    named, node, line = _FIELD.match(message), compose(front_matter.split(content).front or ""), 1
    for name in named[1].split(".") if named else ():
        if (found := child(node, name)) is None:
            break
        # The first line of the file is the `---`.
        line, node = line_of(found[0]) + 1, found[1]
    return line
