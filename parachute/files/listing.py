"""The entries of one folder of the vault, without following a link."""

import os
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from parachute.base.folders import Folder
from parachute.core.files import said
from parachute.files.models import FileEntry, Listing, modified_text
from parachute.security.permissions.vault_files import may_list

MOST_READ = 200_000
"""Entries of a folder that are looked at; those of a larger one beyond that are not shown."""


def listed(root: Path, parts: tuple[str, ...], *, hidden: bool, limit: int, offset: int) -> Listing:
    """Folders first, then the rest by name; sockets, pipes, devices and names that are no text are left out."""
    with said(parts), Folder.open(root) as vault, vault.folder("/".join(parts)) as folder:
        found = list(islice(folder.entries(), MOST_READ + 1))
        shown = sorted(
            (entry for entry in found[:MOST_READ] if may_list(entry.name, hidden=hidden) and _is_shown(entry)),
            key=lambda entry: (not entry.is_dir(follow_symlinks=False), entry.name.casefold(), entry.name),
        )
        part = shown[offset : offset + limit]
        is_cut = len(found) > MOST_READ or offset + len(part) < len(shown)
        return Listing("/".join(parts), tuple(_entries(folder, parts, part)), len(shown), is_cut)


def _entries(folder: Folder, parts: tuple[str, ...], found: list["os.DirEntry[str]"]) -> Iterator[FileEntry]:
    for entry in found:
        try:
            status = entry.stat(follow_symlinks=False)
            path = "/".join((*parts, entry.name))
            is_folder, is_link = stat.S_ISDIR(status.st_mode), stat.S_ISLNK(status.st_mode)
            has_agents, has_claude, is_repository = _known_files(folder, entry.name) if is_folder else (False,) * 3
            yield FileEntry(
                name=entry.name,
                type="directory" if is_folder else "symlink" if is_link else "file",
                path=path,
                relative_path=path,
                is_directory=is_folder,
                is_symlink=is_link,
                symlink_target=os.fsencode(folder.link(entry.name)).decode(errors="replace") if is_link else None,
                has_agents_md=has_agents,
                has_claude_md=has_claude,
                is_git_repo=is_repository,
                last_modified=modified_text(status.st_mtime_ns),
                size=status.st_size if stat.S_ISREG(status.st_mode) else None,
            )
        except OSError:
            continue  # it went meanwhile, or the system keeps it from us


def _known_files(folder: Folder, name: str) -> tuple[bool, bool, bool]:
    """Return whether a folder has instructions for agents (AGENTS.md, CLAUDE.md), and whether it is a repository."""
    try:
        with folder.folder(name) as inner:
            agents, claude = (_is_file(inner.status(each)) for each in ("AGENTS.md", "CLAUDE.md"))
            return agents, claude, inner.status(".git") is not None
    except OSError:
        return False, False, False


def _is_file(status: os.stat_result | None) -> bool:
    return status is not None and stat.S_ISREG(status.st_mode)


def _is_shown(entry: "os.DirEntry[str]") -> bool:
    try:
        entry.name.encode()
        return entry.is_symlink() or entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)
    except (UnicodeEncodeError, OSError):
        return False
