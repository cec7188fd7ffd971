"""Approval of a hook covers every file that its command names (A16), and approving shows them (U9)."""

import shlex
from pathlib import Path

import pytest

from parachute.events.hooks.commands import prepare

FOLDERS = ["/usr/bin", "/bin"]


@pytest.mark.parametrize(
    "line",
    [
        "make --file={path}",
        "make --file={path} all",
        "perl -I{path} x",
        "env X={path} true",
        "bash -c 'sh {path}'",
        "bash -c 'cd /tmp && . {path}; true'",
        "bash -c 'X={path}; sh $X'",
        'bash -c "cat x|sh \\"{path}\\""',
        "sh -c 'bash -c \"sh {path}\"'",
        "sh -c 'sh < {path}'",
    ],
)
def test_a_later_edit_is_seen(tmp_path: Path, line: str) -> None:
    script = tmp_path / "x.sh"
    script.write_text("one")
    line = line.format(path=script)
    before = prepare(line, tmp_path, FOLDERS).digest
    assert prepare(line, tmp_path, FOLDERS).digest == before
    script.write_text("two")
    assert prepare(line, tmp_path, FOLDERS).digest != before


@pytest.mark.parametrize("home", ["~", "$HOME", "${HOME}"])
def test_a_later_edit_in_the_home_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "x.sh").write_text("one")
    line = f"bash -c 'sh {home}/x.sh'"
    before = prepare(line, tmp_path, FOLDERS).digest
    (tmp_path / "x.sh").write_text("two")
    assert prepare(line, tmp_path, FOLDERS).digest != before


def test_what_a_hook_writes_does_not_withdraw_its_approval(tmp_path: Path) -> None:
    line = f"bash -c 'date >> {tmp_path}/log 2>{tmp_path}/errors'"
    before = prepare(line, tmp_path, FOLDERS).digest
    (tmp_path / "log").write_text("x")
    (tmp_path / "errors").write_text("x")
    assert prepare(line, tmp_path, FOLDERS).digest == before


def test_what_was_looked_at_runs_also_behind_an_option(tmp_path: Path) -> None:
    (tmp_path / "x.mk").write_text("all:")
    command = prepare(f"make --file={tmp_path}/x.mk", tmp_path, FOLDERS)
    arguments = command.materialise(tmp_path / "copies", tmp_path / "trusted")
    option, _, copy = arguments[1].partition("=")
    assert (option, Path(copy).read_text()) == ("--file", "all:")
    assert Path(copy).is_relative_to(tmp_path / "copies")


def test_a_folder_in_a_command_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "a folder").mkdir()
    assert prepare(f"make -C {shlex.quote(str(tmp_path / 'a folder'))}", tmp_path, FOLDERS).files == ()
