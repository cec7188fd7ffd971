"""Reading a skill: a folder with `SKILL.md`, or a single file; whoever wrote it may be hostile."""

import stat
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.folders import Folder
from parachute.capabilities.skills.models import Skill, SkillFile
from parachute.capabilities.texts import (
    DESCRIPTION_LIMIT,
    Source,
    check_description,
    check_name,
    names_of,
    read_fields,
    read_text,
    text_of,
)

FILE = "SKILL.md"
MOST_FILES = 500
SIZE_LIMIT = 16 * 1024 * 1024
"""Bytes of all files of a skill."""

_DEEPEST = 8


def read_skill(folder: Folder, path: Path, source: Source) -> Skill:
    """The skill at a path below an open folder; never raises for what is there: its `problem` says why it cannot be used."""
    skill = Skill(path.stem if path.suffix == ".md" else path.name, "", source, str(path))
    try:
        status = folder.status(path)
        if status is None:
            raise InvalidInput("It no longer exists.", key="not_found")
        if stat.S_ISDIR(status.st_mode):
            with folder.folder(path) as own:
                skill = replace(skill, **_listed(own))
                text = read_text(own, Path(FILE))
        else:
            found = SkillFile(path.name, status.st_size)
            skill = replace(skill, files=(found,), size=found.size, modified=status.st_mtime, is_folder=False)
            text = read_text(folder, path)
        return described(replace(skill, content=text))
    except (OSError, ParachuteError) as error:
        return replace(skill, problem=_reason(error))


def described(skill: Skill) -> Skill:
    """The skill with what the fields of its content say; `problem` if they break the rules."""
    try:
        fields, body, note = read_fields(skill.content)
        description = text_of(fields, "description") or _first_paragraph(body)
        allowed = names_of(fields, "allowed-tools") or ()
        skill = replace(
            skill,
            description=description,
            note=note,
            allowed_tools=allowed,
            version=text_of(fields, "version") or _version(fields),
        )
        check_name(skill.name)
        if (named := text_of(fields, "name")) and named != skill.name:
            raise InvalidInput(f"name: expected {skill.name}, as its folder or file is called.", key="other_name")
        check_description(description)
        if not body:
            raise InvalidInput("There are no instructions below its fields.", key="empty")
    except ParachuteError as error:
        # A description that breaks the rules is shown to the owner, and not in full length.
        return replace(skill, problem=str(error), description=skill.description[:DESCRIPTION_LIMIT])
    return skill


def _version(fields: dict[str, Any]) -> str | None:
    metadata = fields.get("metadata")
    return (text_of(metadata, "version") or None) if isinstance(metadata, dict) else None


def _first_paragraph(body: str) -> str:
    lines = (line.strip() for line in body.splitlines())
    return next((line for line in lines if line and not line.startswith("#")), "")[:DESCRIPTION_LIMIT]


def _listed(own: Folder) -> dict[str, Any]:
    """Fields of the files in the folder of a skill; error: InvalidInput for more than it may hold, and for what is no file."""
    files, size, modified = [], 0, 0.0
    for above, _, entries in own.walk(deepest=_DEEPEST, most=MOST_FILES):
        for entry in entries:
            name = f"{above}/{entry.name}" if above else entry.name
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                continue
            if stat.S_ISLNK(status.st_mode):
                raise InvalidInput(f"{name[:200]} is a link, and no link is followed.", key="link")
            if not stat.S_ISREG(status.st_mode):
                raise InvalidInput(f"{name[:200]} is neither a file nor a folder.", key="not_a_file")
            if not name.isprintable():
                raise InvalidInput(
                    "The name of one of its files has characters that cannot be shown.", key="invalid_name"
                )
            files.append(SkillFile(name, status.st_size))
            size, modified = size + status.st_size, max(modified, status.st_mtime)
    if size > SIZE_LIMIT:
        raise InvalidInput(f"Its files have more than {SIZE_LIMIT // 1024**2} MiB.", key="skill_too_large")
    files.sort(key=lambda file: (file.name != FILE, file.name))
    return {"files": tuple(files), "size": size, "modified": modified}


def _reason(error: OSError | ParachuteError) -> str:
    return str(error) if isinstance(error, ParachuteError) else f"The file cannot be read: {error.strerror}."
