"""Pictures: the text in them, by the program `tesseract` of this machine."""

import os
import re
import subprocess
from typing import IO

from parachute.files.documents.program.text import LONGEST, Text, Unreadable

_LANGUAGES = ("eng", "deu", "spa", "fra")
_SECONDS = 60.0
_BEGINNING = re.compile(rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|II\*\0|MM\0\*|RIFF.{4}WEBP|BM.{4}\0{4}", re.DOTALL)


def read(file: IO[bytes], text: Text) -> None:
    """Read what is written in a picture, in those of our languages that the program knows."""
    # The program takes what is no picture for a list of files, and reads these.
    if not _BEGINNING.match(os.pread(file.fileno(), 16, 0)):
        raise Unreadable("damaged")
    installed = _output(["--list-langs"], subprocess.DEVNULL).decode(errors="replace").split("\n")
    known = [name for name in _LANGUAGES if name in installed]
    found = _output(["stdin", "stdout", *(("-l", "+".join(known)) if known else ())], file)
    text.add(found.decode(errors="replace").replace("\f", ""))


def _output(arguments: list[str], given: IO[bytes] | int) -> bytes:
    try:
        done = subprocess.run(
            ["tesseract", *arguments], stdin=given, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unreadable("damaged") from error
    if done.returncode != 0:
        raise Unreadable("damaged")
    return done.stdout[: 4 * LONGEST]
