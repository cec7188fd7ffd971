"""A link where a rehearsal shows it: those in /tmp are hidden there."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from parachute.ops.rehearsal.trial import HIDDEN

_BUILD = Path(__file__).parents[2] / "build"
_LONGEST = 36
"""With more characters there is no room for the path of a sandbox's socket in a state directory below it."""


@contextmanager
def linked(folder: Path) -> Iterator[Path]:
    """A link to a folder, beside what is built of this program."""
    link = _BUILD / secrets.token_hex(3)
    if any(link.is_relative_to(hidden) for hidden in HIDDEN) or len(str(link)) > _LONGEST:
        pytest.skip(f"a link in {_BUILD} is hidden in a rehearsal, or its path is too long")
    _BUILD.mkdir(exist_ok=True)
    link.symlink_to(folder)
    try:
        yield link
    finally:
        link.unlink()
