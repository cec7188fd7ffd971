"""Tests that share a vault write files of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).parent.parent.parent
BODY = """
import pytest
from tests.support.server import Server

@pytest.fixture(scope="module")
def server():
    with Server() as running:
        (running.vault / "Projects/boat").mkdir(parents=True)
        yield running

@pytest.mark.parametrize("name", {names})
def test_it(server, name):
    path = server.vault / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    path.unlink()
    path.with_name("left").write_text("x")
"""


@pytest.mark.parametrize(
    ("names", "collision"),
    [
        (["Notes/a/x.md", "Notes/b/x.md", "Projects/one/x.md", "Projects/boat/x.md"], None),
        (["Notes/x.md", "Notes/y.md"], "Notes/left"),
        (["Projects/boat/a/x.md", "Projects/boat/b/x.md"], "Projects/boat"),
        ([".modules/notes/a/x.py", ".modules/notes/b/x.py"], ".modules/notes"),
    ],
)
def test_the_second_that_writes_a_name_fails(tmp_path: Path, names: list[str], collision: str | None) -> None:
    (tmp_path / "test_it.py").write_text(BODY.format(names=names))
    command = [sys.executable, "-m", "pytest", "-q", "-rE", "-p", "tests.support.own_data"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
    said = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout
    assert f"{len(names)} passed" in said, said
    assert ("error" in said) is (collision is not None), said
    assert collision is None or f"{collision} is written by test_it.py::test_it[{names[0]}]" in said, said
