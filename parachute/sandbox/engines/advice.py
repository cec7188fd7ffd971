"""Hints for a folder in which agents may not work."""

import shlex
from collections.abc import Sequence
from pathlib import Path

_SYSTEM = frozenset(
    (
        *("bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "nix", "opt", "proc", "root", "run"),
        *("sbin", "sys", "usr", "var"),
    )
)


def advice(folder: Path, present: Sequence[Path]) -> str:
    """A command that lets agents work there, with what is set already; another way where it would open too much."""
    if not _may_be_opened(folder.parent):
        return f"Put the project below {present[0]}." if present else "Put the project into the vault."
    import yaml

    folders = [*map(str, present), str(folder.parent)]
    value = yaml.safe_dump(folders, default_flow_style=True, allow_unicode=True, width=10_000).strip()
    return f"`parachute config set project_folders {shlex.quote(value)}` lets agents work in each folder of {folder.parent}."


def _may_be_opened(folder: Path) -> bool:
    """True for a folder that may hold projects: it is neither a home, nor of the system, nor above one of these."""
    home = Path.home().resolve()
    if home.is_relative_to(folder) or any(part.startswith(".") for part in folder.parts):
        return False
    if folder.is_relative_to(home):
        return True
    return len(folder.parts) > 2 and folder.parts[1] not in _SYSTEM and folder.parent != Path("/home")
