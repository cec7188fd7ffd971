"""Offers after a start at a terminal, and how the program is called from then on."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from parachute.cli import own_command
from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

pytestmark = pytest.mark.process


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program called `parachute` that the shell does not find, as the one that runs."""
    path = tmp_path / "checkout of mine" / "parachute"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(path)])
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return path


def test_what_is_printed_can_be_typed(program: Path) -> None:
    assert own_command.typed("`parachute start` starts it.") == f"`'{program}' start` starts it."
    assert own_command.can_be_linked()
    own_command.make_link()
    assert own_command.how() == "~/.local/bin/parachute"
    done = subprocess.run(["bash", "-c", own_command.how()], check=False)
    assert done.returncode == 0
    assert not own_command.can_be_linked()


def test_on_the_path_it_has_its_name(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    assert own_command.how() == "parachute"
    assert not own_command.can_be_linked()


def test_what_has_the_name_already_is_left_alone(program: Path) -> None:
    own_command.link().parent.mkdir(parents=True)
    own_command.link().write_text("other")
    assert not own_command.can_be_linked()
    assert own_command.how() == f"'{program}'"


@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_the_line_for_the_shell_works(program: Path, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    own_command.make_link()
    line = own_command.line_for_shell()
    assert line is not None
    subprocess.run(["bash", "-c", line], check=True)
    file = Path.home() / (".bashrc" if shell == "bash" else ".profile")
    found = subprocess.run(
        [shell, "-c", f". {file}; command -v parachute"], capture_output=True, text=True, check=True, env=os.environ
    )
    assert found.stdout.strip() == str(own_command.link())


@pytest.mark.long
def test_what_is_missing_is_offered_again_once(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home), home.pid_file.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # as the supervisor does
        for _ in range(2):
            with parachute.screen("start") as screen:
                screen.until("[Y/n/each]")
                screen.type("n\n")
                assert screen.end() == 0
        with parachute.screen("start") as screen:
            assert screen.end() == 0
        assert "[Y/n" not in screen.seen
        assert "parachute setup" in screen.seen
