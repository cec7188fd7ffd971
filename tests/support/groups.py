"""Folders of another group than that of the tests."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def other_group(folder: Path) -> Iterator[None]:
    """Give a folder to another group within the block; skip where we are in no other one."""
    others = [each for each in os.getgroups() if each != os.getgid()]
    if not others and os.getuid() != 0:
        pytest.skip("this user is in one group only")
    os.chown(folder, -1, others[0] if others else os.getgid() + 1)
    try:
        yield
    finally:
        os.chown(folder, -1, os.getgid())
