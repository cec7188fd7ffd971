"""Versions of this program in folders of their own, as an update installs them: this one, with files that were changed."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import parachute_runner

import parachute

_PACKAGE = Path(parachute.__path__[0])
_LIBRARIES = next(path for path in sys.path if path.endswith("site-packages"))


def version(folder: Path, changes: Mapping[str, str] | None = None) -> Path:
    """A version with `changes` by the paths of files in the package; the interpreter that runs it.

    What is to be written begins with `+` where it is added at the end of a file, with `^` where it goes before it, or is
    `before => after`.
    """
    site = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    for package in (_PACKAGE, Path(parachute_runner.__path__[0])):
        # With what is compiled, as after an installation; a file that is changed gets one of its own.
        shutil.copytree(package, site / package.name, copy_function=os.link)
    (site / "libraries.pth").write_text(f"{_LIBRARIES}\n")
    (folder / "pyvenv.cfg").write_text(f"home = {Path(sys.base_prefix) / 'bin'}\n")
    (folder / "bin").mkdir()
    python = folder / "bin" / "python"
    python.symlink_to(Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}")
    for name, change in (changes or {}).items():
        path = site / "parachute" / name
        text = path.read_text()
        path.unlink()
        path.write_text(_changed(text, change))
    return python


def _changed(text: str, change: str) -> str:
    if change.startswith("+"):
        return text + change.removeprefix("+")
    if change.startswith("^"):
        return change.removeprefix("^") + text
    before, after = change.split(" => ")
    assert text.count(before) == 1, before
    return text.replace(before, after)
