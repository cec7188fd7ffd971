"""Golden files: what a person sees, in `golden` beside the tests; `make golden` renews them, and a review reads what changed."""

import re
import sys
from datetime import date, timedelta
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from syrupy.extensions.amber import AmberSnapshotExtension

from parachute import __version__

DAYS = [str(date.today() + timedelta(days=days)) for days in (-1, 0, 1)]
CHANGING = (
    (re.escape(sys.executable), "PYTHON"),
    (re.escape(str(Path(__file__).parents[2])), "/REPOSITORY"),
    (
        rf"(?:/tmp|{re.escape(gettempdir())})/(pytest-of-[^/\s]+/pytest-\d+/(popen-gw\d+/)?[\w.-]+|p[a-z]+[a-z0-9_]{{8}})",
        "/HOME",
    ),
    (rf"({'|'.join(DAYS)})([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:\d\d)?)?", "DATE"),
    (r"\b(localhost|127\.0\.0\.1):\d{4,5}\b", r"\1:PORT"),
    (r"(?i)(\bport |', )\d{5}\b", r"\1PORT"),
    (rf"(?<=version ){re.escape(__version__)}\b", "VERSION"),
    (r"\b\d+ (s|min|h|d) ago\b", "AGO"),
    (r"(?<=which are )[^;]+", "ADDRESSES"),
    (r"(?<=user with number )\d+", "NUMBER"),
    (r"sha256:[0-9a-f]{64}", "sha256:HASH"),
    (r"\b[0-9a-f]{12,}-[0-9a-f]{12,}-[0-9a-f]+-[0-9a-f]+\b", "ETAG"),
    (r"\b[0-9a-f]{40}\b", "COMMIT"),
    (r"\bpara_[\w-]{43}", "KEY"),
    (r"(?m)(?<=\()[0-9a-f]{12}(?=\))|^[0-9a-f]{12}(?=  )", "IDENTIFIER"),
    (r"process \[\d+\]", "process [PID]"),
    (r"(.)\1{199,}", r"\1…"),
)
"""Patterns of what differs from run to run, and the word that stands for it."""


class Screens(AmberSnapshotExtension):
    """The screens of a file of tests, one below the other; `assert screen == snapshot` compares, as a text or a list of such."""

    file_extension = "txt"

    def serialize(self, data: Any, **options: Any) -> str:
        """The text without what changes from run to run."""
        text = "\n".join(map(str, data)) if isinstance(data, list | tuple) else str(data)
        for pattern, word in CHANGING:
            text = re.sub(pattern, word, text)
        # What would drive a terminal, or is half of a character, in a form that nothing of ours prints.
        text = "".join(each if each == "\n" or each.isprintable() else f"⟦U+{ord(each):04X}⟧" for each in text)
        return super().serialize(text, **options)
