"""Nothing runs that was not approved exactly as it is."""

import json
from pathlib import Path

import pytest

from parachute.events.hooks.commands import prepare, shown_name, split
from parachute.events.hooks.models import CannotRun

from .conftest import Place

pytestmark = pytest.mark.long

SYSTEM = ["/usr/bin", "/bin"]


async def test_what_is_not_approved_is_listed_and_does_not_run(place: Place, tmp_path: Path) -> None:
    place.write(session__start=f"touch {tmp_path}/ran")
    (listed,) = await place.hooks.list()
    assert not listed.is_approved
    assert "parachute hooks approve" in (listed.problem or "")
    for _ in range(3):
        assert not (await place.fire()).blocked
    assert not (tmp_path / "ran").exists()
    assert len(place.messages()) == 1
    (tested,) = await place.hooks.test("session.start")
    assert tested.ran is None
    assert not (tmp_path / "ran").exists()


async def test_a_changed_command_waits_again(place: Place, tmp_path: Path) -> None:
    place.write(session__start=f"touch {tmp_path}/one")
    await place.approve()
    place.write(session__start=f"touch {tmp_path}/two")
    await place.fire()
    assert not (tmp_path / "two").exists()


@pytest.mark.parametrize("name", ["inside", "outside"])
async def test_a_changed_script_waits_again(place: Place, tmp_path: Path, name: str) -> None:
    folder = place.folder if name == "inside" else tmp_path
    script = place.script("do.sh", f"#!/bin/sh\necho one >> {tmp_path}/ran\n", folder)
    place.write(session__start=f"bash {script}")
    await place.approve()
    await place.fire()
    script.write_text(f"#!/bin/sh\necho two >> {tmp_path}/ran\n")
    await place.fire()
    assert (tmp_path / "ran").read_text() == "one\n"
    await place.approve()
    await place.fire()
    assert (tmp_path / "ran").read_text() == "one\ntwo\n"
    # What was approved before is not approved any more.
    script.write_text(f"#!/bin/sh\necho one >> {tmp_path}/ran\n")
    await place.fire()
    assert (tmp_path / "ran").read_text() == "one\ntwo\n"


async def test_what_runs_of_a_script_elsewhere_is_what_was_looked_at(place: Place, tmp_path: Path) -> None:
    # The script replaces itself while it runs; a shell reads on in the file that it has open.
    script = place.script("do.sh", "", tmp_path)
    script.write_text(f"#!/bin/sh\necho 'echo swapped > {tmp_path}/ran' > {script}\necho $0 > {tmp_path}/ran\n")
    place.write(session__start=str(script))
    await place.approve()
    await place.fire()
    ran = (tmp_path / "ran").read_text().strip()
    assert ran != str(script)
    assert ran.endswith("/do.sh")
    assert not Path(ran).exists()
    assert list((place.home.root / "run" / "hooks").iterdir()) == []


async def test_a_link_to_a_script_stands_for_its_content(place: Place, tmp_path: Path) -> None:
    script = place.script("real.sh", f"#!/bin/sh\necho one >> {tmp_path}/ran\n", tmp_path)
    (place.folder / "on-session-start.sh").symlink_to(script)
    await place.approve()
    await place.fire()
    script.write_text(f"#!/bin/sh\necho two >> {tmp_path}/ran\n")
    await place.fire()
    assert (tmp_path / "ran").read_text() == "one\n"


async def test_a_damaged_file_of_approvals_approves_nothing(place: Place, tmp_path: Path) -> None:
    place.write(session__start=f"touch {tmp_path}/ran")
    await place.approve()
    file = place.home.root / "hooks-approved.json"
    assert file.stat().st_mode & 0o777 == 0o600
    digest = next(iter(json.loads(file.read_text())["approved"]))
    for text in ("{", "[]", '{"approved": [1]}', json.dumps({"approved": {digest: 1}})):
        file.write_text(text)
        await place.fire()
        (listed,) = await place.hooks.list()
        assert not listed.is_approved
        assert "hooks-approved.json cannot be read" in (listed.problem or "")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "line",
    [
        "a | b",
        "a && b",
        "a; b",
        "a > f",
        "a < f",
        "a $HOME",
        'a "$HOME"',
        "a `b`",
        'a "`b`"',
        "a *.md",
        "(a)",
        "a &",
        "a 'b",
        "",
        "   ",
        "''",
    ],
)
def test_a_command_that_needs_a_shell_or_is_none_is_refused(line: str) -> None:
    with pytest.raises(CannotRun):
        split(line)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a 'b | c' \"d; e\"", ["a", "b | c", "d; e"]),
        (r"a b\ c \$d", ["a", "b c", "$d"]),
        ("bash -c 'echo $HOME > \"$1\"'", ["bash", "-c", 'echo $HOME > "$1"']),
        ("~/run.sh", [f"{Path.home()}/run.sh"]),
    ],
)
def test_quoted_words_stay_as_they_are(line: str, words: list[str]) -> None:
    assert split(line) == words


@pytest.mark.parametrize("line", ["no-such-program", "/no/such/program", "python -m no.such.module", "./plain"])
def test_a_program_that_is_not_there_cannot_be_approved(tmp_path: Path, line: str) -> None:
    (tmp_path / "plain").write_text("not executable")
    with pytest.raises(CannotRun):
        prepare(line, tmp_path, SYSTEM)


def test_the_hash_covers_line_files_and_modules(tmp_path: Path) -> None:
    def digest(line: str) -> str:
        return prepare(line, tmp_path, SYSTEM).digest

    (tmp_path / "data").write_text("1")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "tool.py").write_text("1")
    lines = ["cat data", "cat 'data'", "cat nothing", "python -m package.tool", "python data"]
    before = {line: digest(line) for line in lines}
    assert len(set(before.values())) == len(lines)
    (tmp_path / "data").write_text("2")
    (tmp_path / "package" / "tool.py").write_text("2")
    assert [line for line in lines if digest(line) == before[line]] == ["cat nothing"]


def test_only_the_exact_module_of_the_package_is_built_in(tmp_path: Path) -> None:
    name = "parachute.hooks.defaults.activity_summary"
    assert prepare(f"python -m {name}", tmp_path, SYSTEM).is_built_in
    assert not prepare(f"python -m {name} --more", tmp_path, SYSTEM).is_built_in
    assert not prepare("python -m parachute.cli", tmp_path, SYSTEM).is_built_in


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("python -m parachute_brain.hooks.detect_mentions", "detect_mentions"),
        ("/path/to/custom/backup-script.sh", "backup-script"),
        ("python3 /x/y.py --fast", "y"),
        ("python on-session-end.py", "on-session-end"),
        ("git pull", "git"),
        ("a | b", "a"),
    ],
)
def test_a_hook_has_a_readable_name(line: str, name: str) -> None:
    assert shown_name(line) == name
