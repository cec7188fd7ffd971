"""The agents that a module brings in its folder `agents`: the same for the question before it is installed and for its runs."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date
from pathlib import Path

from msgspec import Struct

from parachute.base.documents import NotYaml
from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.core import front_matter
from parachute.core.patterns import Pattern, matches_any, parts_of
from parachute.modules.agent_definitions.definition import FILE_LIMIT, NAME, has_schedule, read_definition
from parachute.modules.agent_definitions.models import Definition

MOST = 50
"""Files of one folder that are looked at."""

_FOLDER = "agents/"
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
    return tuple(agent for agent in agents_among(_texts(code), module) if is_name(agent.name))


def is_agent_file(path: str) -> bool:
    """True for the path of a file that may be an agent of its module."""
    return path.startswith(_FOLDER) and path.endswith(_ENDING) and path.count("/") == 1


def agents_among(texts: Mapping[str, bytes], module: str) -> tuple[BroughtAgent, ...]:
    """The agents among the files of a module, by path and of each at most `FILE_LIMIT` bytes and one more, also broken ones."""
    paths = sorted(filter(is_agent_file, texts))[:MOST]
    found = (_brought(texts[path], module, path) for path in paths)
    return tuple(agent for agent in found if agent is not None)


def problems_of(
    agents: Iterable[BroughtAgent], files: Iterable[str], write: tuple[str, ...], can_suggest: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Problems of a module's agents, one sentence each; `write` are the patterns that the module may write.

    `files` are the paths of its files, and `can_suggest` the modules for which agents of the manifest may make suggestions.
    """
    if sum(map(is_agent_file, files)) > MOST:
        return (f"agents: there are more than {MOST} files in it, and no more are looked at.",)
    problems: list[str] = []
    patterns = [Pattern.parse(text) for text in write]
    for agent in agents:
        problem = agent.problem
        if not is_name(agent.name):
            problem = f"An agent cannot be called {agent.name!r}: 1 to 64 letters, digits, `-` and `_` are allowed, not `status`."
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


def _brought(data: bytes, module: str, path: str) -> BroughtAgent | None:
    name = path.removeprefix(_FOLDER).removesuffix(_ENDING)
    if not has_schedule(data[:FILE_LIMIT].decode(errors="replace")):
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


def _texts(code: Path) -> dict[str, bytes]:
    """The beginnings of all Markdown files of the folder, by their paths in the module."""
    found: dict[str, bytes] = {}
    # There may be no such folder, or a link in its place.
    with suppress(OSError), Folder.open(code) as root, root.folder(_FOLDER) as folder:
        for name in sorted(entry.name for entry in folder.entries() if entry.name.endswith(_ENDING))[:MOST]:
            with suppress(OSError, InvalidInput), folder.file(name) as file:
                found[f"{_FOLDER}{name}"] = file.read(FILE_LIMIT + 1)
    return found


def _line_in_file(content: str, message: str) -> int:
    """The line of the file, from 1, that a message about its fields means; 1 if it is unknown."""
    named = _FIELD.match(message)
    return front_matter.line_of(content, named[1].split(".")) if named else 1
