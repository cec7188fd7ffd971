"""Reading what is in a plugin: its parts, which of its files are texts and which are programs, and the hash of both."""

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import TypeVar

from msgspec import to_builtins

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.folders import Folder
from parachute.capabilities.agents.models import Agent
from parachute.capabilities.agents.reading import read_agent
from parachute.capabilities.mcp_servers.models import Server
from parachute.capabilities.plugins.manifest import Manifest, PluginInvalid, read_manifest, unreadable
from parachute.capabilities.plugins.models import Command, Contents, Hook, PluginFile
from parachute.capabilities.plugins.programs import HOOKS, SERVERS, read_hooks, read_servers
from parachute.capabilities.skills.models import Skill
from parachute.capabilities.skills.reading import FILE as SKILL
from parachute.capabilities.skills.reading import read_skill
from parachute.capabilities.texts import DESCRIPTION_LIMIT, read_fields, read_text, text_of
from parachute.modules.trees.hashing import Tree

_MOST = 300
"""Skills, agents and commands of a plugin, of each kind."""

_TEXTS = frozenset(
    [
        ".md",
        ".txt",
        ".json",
        ".yaml",
        ".yml",
        ".toml",
        ".csv",
        ".tsv",
        ".xml",
        ".html",
        ".css",
        ".svg",
        ".png",
        ".jpg",
        ".jpeg",
        ".gif",
        ".webp",
        ".pdf",
        ".tmpl",
        ".template",
    ]
)
_NAMED_TEXTS = frozenset(("LICENSE", "NOTICE", "README", "CHANGELOG"))
_NOT_RUN = {
    ".lsp.json": "servers of languages",
    "SKILL.md": "a skill at the top",
    "channels": "channels",
    "monitors": "monitors",
    "output-styles": "styles of output",
    "settings.json": "settings",
    "themes": "themes",
    "workflows": "workflows",
}
"""Other files that the agent's program reads in the folder of a plugin."""

UNUSED = frozenset((".claude-plugin", HOOKS, SERVERS, "agents", "commands", "skills", *_NOT_RUN))
"""Files that are left out of copies for agents: these are made anew, or have no effect."""

_PROGRAM_FOLDER = "bin"

Part = TypeVar("Part")


def read_contents(root: Path, slug: str, tree: Tree) -> Contents:
    """Read the plugin in a folder whose files, those of `tree`, no one else writes; error: PluginInvalid."""
    try:
        with Folder.open(root) as folder:
            return _read(folder, slug, tree)
    except OSError as error:
        raise unreadable(error) from error


def _read(folder: Folder, slug: str, tree: Tree) -> Contents:
    manifest = read_manifest(folder)
    files = tuple(_files(tree))
    not_run = [f"plugin.json: {field}" for field in manifest.other]
    not_run += [f"{name}: {what}" for name, what in _NOT_RUN.items() if folder.status(name) is not None]
    skills = _skills(folder, manifest, not_run)
    agents = _agents(folder, manifest, not_run)
    commands = _commands(folder, manifest, not_run)
    hooks = read_hooks(folder, manifest, not_run)
    servers = read_servers(folder, manifest, slug, not_run)
    shells = [each.path for each in skills if _runs_while_read(each.content)]
    shells += [each.path for each in commands if _runs_while_read(each.content)]
    not_run += [f"{path}: commands that run while it is read" for path in shells]
    heads = {each.path for each in agents if each.problem is None}
    heads |= {each.path for each in commands if each.problem is None}
    used = [each for each in skills if each.problem is None]
    folders = tuple(f"{each.path}/" for each in used if each.is_folder)
    heads |= {each.path for each in used if not each.is_folder}
    in_skills = [each for each in files if each.path.startswith(folders)] if folders else []
    texts = [each for each in files if each.path in heads or (each in in_skills and _is_text(folder, each))]
    programs = _programs(files, texts, in_skills, bool(hooks or servers))
    return Contents(
        name=manifest.name,
        version=manifest.version,
        description=manifest.description,
        author=manifest.author,
        skills=skills,
        agents=agents,
        commands=commands,
        hooks=hooks,
        servers=servers,
        texts=tuple(texts),
        programs=programs,
        not_run=tuple(not_run[:_MOST]),
        texts_hash=_hash((manifest.name, manifest.version, manifest.description), texts),
        # Of everything: a command may run or read any file of the plugin, also one whose name says that it is a text.
        programs_hash=_hash((manifest.name, _said(hooks), _said(servers)), files)
        if hooks or servers or programs
        else "",
    )


def _files(tree: Tree) -> Iterator[PluginFile]:
    """The files of a plugin without its links; error: PluginInvalid for names of which a system that ignores case knows one."""
    seen: dict[str, str] = {}
    for path, file in tree.files.items():
        for each in (path, *map(str, PurePosixPath(path).parents)):
            if (other := seen.setdefault(each.casefold(), each)) != each:
                raise PluginInvalid(f"{each} and {other} differ in case only.", key="names_collide")
        if not file.is_link:
            yield PluginFile(path, file.size, file.sha256, file.is_executable)


def _is_text(folder: Folder, file: PluginFile) -> bool:
    """True for a file that nothing runs automatically."""
    path = PurePosixPath(file.path)
    if file.is_executable or not (path.suffix.lower() in _TEXTS or path.name in _NAMED_TEXTS):
        return False
    with folder.file(file.path) as opened:
        return opened.read(2) != b"#!"


def _programs(
    files: tuple[PluginFile, ...], texts: list[PluginFile], in_skills: list[PluginFile], has_hooks_or_servers: bool
) -> tuple[PluginFile, ...]:
    known = {each.path for each in texts}
    if has_hooks_or_servers:
        return tuple(each for each in files if each.path not in known and not _is_about(each.path))
    inside = {each.path for each in in_skills}
    return tuple(
        each
        for each in files
        if each.path not in known and (each.path in inside or each.path.startswith(f"{_PROGRAM_FOLDER}/"))
    )


def _is_about(path: str) -> bool:
    """True for a file about the plugin itself, which differs in every version of it and runs nothing."""
    if "/" in path:
        return path.startswith((".claude-plugin/", ".github/")) or path == HOOKS
    return path.endswith(".md") or path in _NAMED_TEXTS or path in (".gitignore", ".gitattributes", SERVERS)


def _said(parts: tuple[Hook, ...] | tuple[Server, ...]) -> str:
    return json.dumps([to_builtins(each) for each in parts], sort_keys=True)


def _hash(about: Iterable[str], files: Iterable[PluginFile]) -> str:
    digest = hashlib.sha256()
    for text in about:
        digest.update(hashlib.sha256(text.encode()).digest())
    for file in sorted(files, key=lambda each: os.fsencode(each.path)):
        # A path holds no zero byte, so that no two lists give the same line.
        digest.update(os.fsencode(file.path) + f"\0{file.is_executable}\0{file.sha256}\n".encode())
    return f"sha256:{digest.hexdigest()}"


def _skills(folder: Folder, manifest: Manifest, not_run: list[str]) -> tuple[Skill, ...]:
    found: dict[str, Skill] = {}
    for place in ("skills", *manifest.paths.get("skills", ())):
        if folder.status(f"{place}/{SKILL}") is not None:
            paths = [place]
        else:
            paths = [path for path in _below(folder, place) if folder.status(f"{path}/{SKILL}") is not None]
        for path in paths:
            skill = read_skill(folder, Path(path), "plugin")
            if found.setdefault(skill.name, skill).path != skill.path:
                not_run.append(f"{path}: there is another skill of this name")
    return _bounded("skills", tuple(found.values()), not_run)


def _agents(folder: Folder, manifest: Manifest, not_run: list[str]) -> tuple[Agent, ...]:
    found: dict[str, Agent] = {}
    for path in _texts(folder, ("agents", *manifest.paths.get("agents", ()))):
        agent = read_agent(folder, Path(path), "plugin")
        if found.setdefault(agent.name, agent).path != agent.path:
            not_run.append(f"{path}: there is another agent of this name")
    return _bounded("agents", tuple(found.values()), not_run)


def _commands(folder: Folder, manifest: Manifest, not_run: list[str]) -> tuple[Command, ...]:
    found: dict[str, Command] = {}
    for place in ("commands", *manifest.paths.get("commands", ())):
        for path in _texts(folder, (place,)):
            inside = path.removeprefix(f"{place}/") if path != place else PurePosixPath(path).name
            command = _command(folder, path, inside.removesuffix(".md"))
            if found.setdefault(command.name, command).path != command.path:
                not_run.append(f"{path}: there is another command of this name")
    return _bounded("commands", tuple(found.values()), not_run)


def _command(folder: Folder, path: str, name: str) -> Command:
    command = Command(name.replace("/", ":"), "", path)
    try:
        if not all(part.replace("-", "").replace("_", "").isalnum() and part.isascii() for part in name.split("/")):
            raise InvalidInput("name: letters, digits, - and _ are expected.", key="invalid_name")
        content = read_text(folder, Path(path))
        fields, body, _ = read_fields(content)
        description = text_of(fields, "description")[:DESCRIPTION_LIMIT]
        if not body:
            raise InvalidInput("The text below its fields is missing.", key="no_text")
        return Command(command.name, description, path, content)
    except ParachuteError as error:
        return Command(command.name[:64], "", path, problem=str(error))


def _bounded(kind: str, found: tuple[Part, ...], not_run: list[str]) -> tuple[Part, ...]:
    if len(found) > _MOST:
        not_run.append(f"{kind}: there are more than {_MOST}; those after them are left out")
    return found[:_MOST]


def _texts(folder: Folder, places: Iterable[str]) -> list[str]:
    """Texts in these folders and below, and those that are named themselves."""
    found: list[str] = []
    for place in places:
        status = folder.status(place)
        if status is None:
            continue
        if place.endswith(".md"):
            found.append(place)
        elif stat.S_ISDIR(status.st_mode):
            with folder.folder(place) as opened:
                for above, _, entries in opened.walk(deepest=8):
                    inside = f"{place}/{above}" if above else place
                    found += [f"{inside}/{entry.name}" for entry in entries if entry.name.endswith(".md")]
    return sorted(dict.fromkeys(found))


def _below(folder: Folder, place: str) -> list[str]:
    status = folder.status(place)
    if status is None or not stat.S_ISDIR(status.st_mode):
        return []
    with folder.folder(place) as opened:
        return sorted(f"{place}/{each.name}" for each in opened.entries() if each.is_dir(follow_symlinks=False))


def _runs_while_read(content: str) -> bool:
    return "!`" in content or "```!" in content
