"""Files of the vault, as the app reads them (contract, sections 6 and 13)."""

from typing import Literal

from .dart import Camel, Moment


class Entry(Camel):
    """A file or folder: the vault browser casts `relativePath` and `isDirectory`, the picker of folders reads `type`."""

    name: str
    type: Literal["file", "directory", "symlink"]
    path: str
    relative_path: str
    is_directory: bool
    is_symlink: bool = False
    symlink_target: str | None = None
    has_agents_md: bool = False
    has_claude_md: bool = False
    is_git_repo: bool = False
    last_modified: Moment | None = None
    size: int | None = None


class Folder(Camel):
    """`GET /api/ls`."""

    entries: list[Entry]


class File(Camel):
    """`GET /api/read`."""

    path: str
    content: str
    size: int
    last_modified: Moment


class Written(Camel):
    """`PUT /api/write`: the app reads its status alone."""
