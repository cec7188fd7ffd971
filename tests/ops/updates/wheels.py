"""Wheels of this program that differ from it in a file or two."""

import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def built(folder: Path) -> Path:
    """The wheel of the program as it is here."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def changed(wheel: Path, folder: Path, changes: Mapping[str, tuple[str, str]]) -> Path:
    """The wheel with a text replaced in each of some files; nobody checks what RECORD says of them."""
    target = folder / wheel.name
    left = dict(changes)
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(target, "w") as copy:
        for item in source.infolist():
            data = source.read(item)
            if change := left.pop(item.filename, None):
                before, after = (text.encode() for text in change)
                assert before in data, f"{item.filename} has no {change[0]!r}."
                data = data.replace(before, after, 1)
            # Stored: making it small takes longer than all else that is done with it.
            copy.writestr(item, data, zipfile.ZIP_STORED)
    assert not left, f"The wheel has no {', '.join(left)}."
    return target
