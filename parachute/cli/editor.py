"""Text that a person writes in an editor of their own."""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from parachute.base.errors import InvalidInput


def written(words: list[str] | None, before: str) -> str:
    """A text: the words of a command, what a person makes of `before` in an editor, or standard input, which `-` names."""
    if words == ["-"]:
        return sys.stdin.read()
    if words:
        return " ".join(words)
    return edited(before) if sys.stdin.isatty() else sys.stdin.read()


def edited(text: str) -> str:
    """The text as $VISUAL or $EDITOR leaves it; error: InvalidInput without one, or when it fails."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise InvalidInput(
            "There is no text and no editor to write one.",
            "Give the text, or set EDITOR, such as: export EDITOR=nano",
            key="no_editor",
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "entry.md"
        path.write_text(text)
        try:
            subprocess.run([*shlex.split(editor), path], check=True)
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            raise InvalidInput(f"The editor failed, and nothing was changed: {error}.", key="editor_failed") from error
        return path.read_text()
