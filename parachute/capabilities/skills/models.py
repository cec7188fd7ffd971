"""A skill as it was read."""

from msgspec import Struct

from parachute.capabilities.texts import Source


class SkillFile(Struct, frozen=True):
    """A file of a skill; `name` is its path in the skill's folder."""

    name: str
    size: int


class Skill(Struct, frozen=True):
    """Instructions for a kind of task; `problem` says why it cannot be used, `note` what is odd in it.

    `path` lies below the folder that it was read from: of a folder with `SKILL.md`, or of a single file. `content` is the whole of
    that text, fields and all; `modified` is in seconds since 1970. `allowed_tools` is what its author wrote, and allows nothing here.
    """

    name: str
    description: str
    source: Source
    path: str
    content: str = ""
    allowed_tools: tuple[str, ...] = ()
    version: str | None = None
    files: tuple[SkillFile, ...] = ()
    size: int = 0
    modified: float = 0.0
    problem: str | None = None
    note: str | None = None
    is_folder: bool = True
