"""Copies of plugins for agents: what is approved and chosen, written anew, so that what must not run is not there."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from parachute.base.folders import Folder
from parachute.base.opening import NEW
from parachute.capabilities.plugins.contents import UNUSED
from parachute.capabilities.plugins.models import Command, Contents, PluginFile
from parachute.capabilities.plugins.programs import HOOKS, hooks_document
from parachute.capabilities.skills.models import Skill
from parachute.capabilities.skills.reading import FILE as SKILL
from parachute.capabilities.texts import read_fields
from parachute.modules.trees.hashing import tree_hash

_FIELDS = ("name", "description", "when_to_use", "argument-hint", "arguments")
_SWITCHES = ("disable-model-invocation", "user-invocable")
"""Fields of texts that reach the agent's program; others of them start programs there, allow tools or choose a model."""

_CHUNK = 1 << 20


def write_copy(source: Path, target: Path, contents: Contents, skills: Iterable[Skill], *, programs: bool) -> str:
    """Write a copy with these of the skills into a new folder, and return its hash; `programs`: with those and hooks."""
    target.mkdir(mode=0o700)
    with Folder.open(source) as files, Folder.open(target) as copy:
        manifest = {"name": contents.name, "version": contents.version, "description": contents.description}
        _write(copy, ".claude-plugin/plugin.json", json.dumps(manifest))
        given = [contents.texts, contents.programs if programs else ()]
        for skill in skills:
            if skill.problem is None:
                _write(copy, f"skills/{skill.name}/{SKILL}", _text_of(skill, skill.name))
                inside = f"{skill.path}/" if skill.is_folder else None
                for file in (each for part in given for each in part):
                    if inside and file.path.startswith(inside) and file.path != f"{inside}{SKILL}":
                        _copy(files, file, copy, f"skills/{skill.name}/{file.path.removeprefix(inside)}")
        for command in contents.commands:
            if command.problem is None:
                _write(copy, f"commands/{command.name.replace(':', '/')}.md", _text_of(command, None))
        if programs:
            _write(copy, HOOKS, json.dumps(hooks_document(contents.hooks)))
            for file in contents.programs:
                if file.path not in UNUSED and file.path.partition("/")[0] not in UNUSED:
                    _copy(files, file, copy, file.path)
    return tree_hash(target)


def _text_of(part: Skill | Command, name: str | None) -> str:
    fields, body, _ = read_fields(part.content)
    kept: dict[str, Any] = {field: str(fields[field]) for field in _FIELDS if isinstance(fields.get(field), str | int)}
    kept |= {field: fields[field] for field in _SWITCHES if isinstance(fields.get(field), bool)}
    kept["description"] = part.description
    kept.pop("name", None)
    if name:
        kept = {"name": name, **kept}
    return f"---\n{yaml.safe_dump(kept, sort_keys=False, allow_unicode=True)}---\n\n{body}\n"


def _write(copy: Folder, path: str, text: str) -> None:
    _put(copy, path, 0o444, [text.encode()])


def _copy(files: Folder, file: PluginFile, copy: Folder, path: str) -> None:
    with files.file(file.path) as source:
        _put(copy, path, 0o555 if file.is_executable else 0o444, iter(lambda: source.read(_CHUNK), b""))


def _put(copy: Folder, path: str, mode: int, pieces: Iterable[bytes]) -> None:
    above, _, name = path.rpartition("/")
    with (
        copy.folder(above or ".", make=True, mode=0o755) as folder,
        os.fdopen(folder.descriptor(name, NEW), "wb") as new,
    ):
        for piece in pieces:
            new.write(piece)
        new.flush()
        os.fchmod(new.fileno(), mode)
