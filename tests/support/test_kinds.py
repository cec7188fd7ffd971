"""The kinds of tests: what each may start, and what its name implies."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.kinds import KINDS

pytestmark = pytest.mark.process

ROOT = Path(__file__).parent.parent.parent
HEAD = """
import socket, subprocess, sys
import pytest
from tests.support.kinds import starts_a_computer
"""


def run(folder: Path, body: str, *options: str) -> str:
    """Run tests of a file of their own, with the kinds; what pytest says."""
    (folder / "test_it.py").write_text(f"{HEAD}\n{body}")
    marks = "".join(f"    {kind}: x\n" for kind in KINDS)
    (folder / "pytest.ini").write_text(f"[pytest]\nmarkers =\n{marks}")
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "tests.support.kinds", *options]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True).stdout


DOES = {
    "program": ("subprocess.run([sys.executable, '-c', ''])", "process"),
    "connection": ("socket.create_connection(('127.0.0.1', 9), 1)", "process"),
    "computer": ("starts_a_computer()", "computer"),
}


def test_whoever_does_more_than_its_kind_fails_and_is_told_which_one_it_needs(tmp_path: Path) -> None:
    tests = (
        f"""
def work_{name}():
    try:
        {does}
    except OSError:
        pass

def test_{name}():
    work_{name}()

@pytest.mark.{needs}
def test_said_{name}():
    work_{name}()
"""
        for name, (does, needs) in DOES.items()
    )
    said = run(tmp_path, "".join(tests))
    for name, (_, needs) in DOES.items():
        _, _, failure = said.partition(f"ERROR at teardown of test_{name} ")
        failure, _, _ = failure.partition("ERROR at")
        assert f"A unit test {'starts' if needs == 'computer' else 'has'} " in failure
        assert f"`pytest.mark.{needs}`" in failure
        assert f"ERROR test_it.py::test_{name}" in said
        assert f"ERROR test_it.py::test_said_{name}" not in said


def test_names_of_fixtures_imply_a_kind_by_which_tests_are_chosen(tmp_path: Path) -> None:
    body = """
@pytest.fixture
def computer():
    starts_a_computer()

@pytest.fixture
def house(computer):
    pass

def test_in_a_house(house):
    pass

def test_alone():
    pass
"""
    chosen = run(tmp_path, body, "-m", "computer")
    assert ("test_alone" in chosen, "PASSED test_it.py::test_in_a_house" in chosen) == (False, True)
    chosen = run(tmp_path, body, "--collect-only", "-m", "unit")
    assert ("test_alone" in chosen, "test_in_a_house" in chosen) == (True, False)


def test_a_server_ends_with_its_package(tmp_path: Path) -> None:
    body = """
import threading

def serving():
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait, name="server of somebody")
    thread.start()
    yield
    ended.set()
    thread.join()

@pytest.fixture(scope="session")
def of_session():
    yield from serving()
@pytest.fixture(scope="package")
def of_package():
    yield from serving()

def test_in_a_session(of_session):
    pass

def test_in_a_package(of_package):
    pass
"""
    said = run(tmp_path, body)
    assert "ERROR test_it.py::test_in_a_session" in said
    assert "PASSED test_it.py::test_in_a_package" in said
