"""Command of this program in the user's shell: `parachute`, or its path where the shell does not find it."""

import os
import shlex
import shutil
import sys
from pathlib import Path

_NAME = "parachute"


def program() -> Path | None:
    """The file that was started; None where it was started in another way, such as `python -m`."""
    path = Path(sys.argv[0]).absolute()
    return path if path.name == _NAME and path.is_file() else None


def link() -> Path:
    """Return the path of the user's link to the program."""
    return Path.home() / ".local" / "bin" / _NAME


def how() -> str:
    """The words to type in the place of `parachute`."""
    own = program()
    if own is None or _is_found(own):
        return _NAME
    if link().exists() and link().samefile(own):
        return "~/.local/bin/parachute"
    return shlex.quote(str(own))


def typed(text: str) -> str:
    """A text in which commands between backticks can be typed as they stand."""
    name = how() if "`parachute" in text else _NAME
    return text if name == _NAME else text.replace("`parachute ", f"`{name} ").replace("`parachute`", f"`{name}`")


def can_be_linked() -> bool:
    """True if a link would help: the shell does not find the program, and nothing else has its name."""
    own = program()
    return own is not None and not _is_found(own) and not os.path.lexists(link())


def make_link() -> None:
    """Link the program to where shells look for those of a user; error: OSError."""
    own = program()
    assert own is not None
    link().parent.mkdir(parents=True, exist_ok=True)
    link().symlink_to(own)


def line_for_shell() -> str | None:
    """The command that lets new shells find the link; None where this one does already."""
    folder = str(link().parent)
    if folder in os.environ.get("PATH", "").split(os.pathsep):
        return None
    shell = Path(os.environ.get("SHELL", "")).name
    if shell == "fish":
        return "fish_add_path ~/.local/bin"
    file = {"zsh": "~/.zshrc", "bash": "~/.bashrc"}.get(shell, "~/.profile")
    return f"echo 'export PATH=\"$HOME/.local/bin:$PATH\"' >> {file}"


def _is_found(own: Path) -> bool:
    found = shutil.which(_NAME)
    return found is not None and Path(found).samefile(own)
