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

CASES: dict[str, tuple[list[str], str | None]] = {
    "test_apart.py": (["Notes/a/x.md", "Notes/b/x.md", "Projects/one/x.md", "Projects/boat/x.md"], None),
    "test_file.py": (["Notes/x.md", "Notes/y.md"], "Notes/left"),
    "test_project.py": (["Projects/boat/a/x.md", "Projects/boat/b/x.md"], "Projects/boat"),
    "test_module.py": ([".modules/notes/a/x.py", ".modules/notes/b/x.py"], ".modules/notes"),
}


def test_the_second_that_writes_a_name_fails(tmp_path: Path) -> None:
    for file, (names, _) in CASES.items():
        (tmp_path / file).write_text(BODY.format(names=names))
    command = [sys.executable, "-m", "pytest", "-q", "-rE", "-p", "tests.support.own_data"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
    said = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout
    assert f"{sum(len(names) for names, _ in CASES.values())} passed" in said, said
    for file, (names, collision) in CASES.items():
        assert (f"ERROR {file}" in said) is (collision is not None), said
        assert collision is None or f"{collision} is written by {file}::test_it[{names[0]}]" in said, said
