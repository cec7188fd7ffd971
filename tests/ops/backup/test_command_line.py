"""`parachute backup` as a person types it, and beside a computer that runs."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.ops.backup.backups import Retention, tags
from parachute.ops.backup.choosing import make_at
from parachute.ops.backup.kit.protection import NOT_PROTECTED
from tests.support.computer import Computer
from tests.support.errors import raises
from tests.support.installation import PLAIN
from tests.support.making import Make

from .installation import Installation, looked_at
from .quick_key import open_quickly

pytestmark = pytest.mark.long


def parachute(
    installation: Installation, *arguments: str, code: int = 0, path: str | None = None, typed: str = ""
) -> tuple[str, str]:
    """Run the command, which must end with `code`; standard output and standard error."""
    environment = {"PATH": path or os.environ["PATH"], "HOME": str(installation.folder), "LANG": "C.UTF-8"}
    ended = subprocess.run(
        [sys.executable, "-m", "parachute.cli", *arguments],
        env={**environment, "PARACHUTE_HOME": str(installation.home)},
        input=typed,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == code, (ended.stdout, ended.stderr)
    assert "Traceback" not in ended.stderr
    return ended.stdout, ended.stderr


def test_one_command_names_a_place_and_makes_the_first_backup(installation: Installation, tmp_path: Path) -> None:
    place = tmp_path / "another disk" / "backups"
    before = installation.home.joinpath("config.yaml").read_text()
    with raises("no_folder"):
        make_at(Home(installation.home), str(place), replaces=True)
    parachute(installation, "backup", "init", str(place), "--replace", code=1)
    assert installation.home.joinpath("config.yaml").read_text() == before
    place.parent.mkdir()
    parachute(installation, "config", "unset", "backup.repository")
    made = json.loads(parachute(installation, "backup", "init", str(place), "--json")[0])
    assert (made["repository"], made["replaced"], made["complete"]) == (str(place), None, True)
    (listed,) = json.loads(parachute(installation, "backup", "list", "--json")[0])
    assert listed["id"] == made["backup"]
    assert "already" in parachute(installation, "backup", "init", str(place), code=1)[1]


def test_another_place_is_taken_only_if_it_is_to_replace_the_one_of_before(
    installation: Installation, tmp_path: Path
) -> None:
    config, home = installation.home / "config.yaml", Home(installation.home)
    before, place = config.read_text(), tmp_path / "backups"
    kept = looked_at(installation.repository_folder)
    with raises("other_place", names=re.escape(str(installation.repository_folder))):
        make_at(home, str(place))
    with raises("config_invalid"):
        make_at(home, "backups", replaces=True)
    with raises("repository_exists"):
        make_at(home, str(installation.repository_folder))
    parachute(installation, "backup", "init", str(place), code=1)
    parachute(installation, "backup", "init", "--replace", code=1)
    assert (config.read_text(), place.exists()) == (before, False)
    said, _ = parachute(installation, "backup", "init", str(place), "--replace")
    assert str(installation.repository_folder) in said
    assert load(home).backup.repository == str(place)
    assert looked_at(installation.repository_folder) == kept
    # The password of before opens both.
    assert json.loads(parachute(installation, "backup", "list", "--json")[0])
    parachute(installation, "config", "set", "backup.repository", str(installation.repository_folder))
    assert json.loads(parachute(installation, "backup", "list", "--json")[0]) == []


def test_the_step_that_protects_the_backups_is_named_and_no_error(installation: Installation, tmp_path: Path) -> None:
    parachute(installation, "config", "unset", "backup.repository")
    said, _ = parachute(installation, "backup", "init", str(tmp_path / "backups"))
    step = "`parachute backup kit --check`"
    assert step in said.splitlines()[-1]
    for command in (("backup", "status"), ("backup", "list")):
        _, warned = parachute(installation, *command)
        assert step in warned
        assert "Error" not in warned
    checked = json.loads(parachute(installation, "doctor", "backup", "--json")[0])
    assert checked["problem"] is False
    assert [step in each["next"] for each in checked["checks"]] == [True]


def test_from_nothing_to_a_restored_vault(installation: Installation) -> None:
    installation.access.password_file.unlink()
    for path in sorted(installation.repository_folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    installation.repository_folder.rmdir()
    assert "No backup was made yet." in parachute(installation, "backup", "status", code=1)[1]
    assert "The password of the backups is missing" in parachute(installation, "backup", "create", code=1)[1]
    said, _ = parachute(installation, "backup", "init")
    assert "Keep a copy elsewhere" in said
    password = installation.access.password_file
    assert password.stat().st_mode & 0o777 == 0o600
    assert len(password.read_text().strip()) >= 43
    assert password.read_text().strip() not in said
    assert "already" in parachute(installation, "backup", "init", code=1)[1]
    open_quickly(installation.repository_folder, password.read_text().strip())

    (installation.vault / "note").write_text("first")
    made = json.loads(parachute(installation, "backup", "create", "--json")[0])
    assert made["complete"] is True
    assert made["parts"]["vault"]["files"] == 1
    (listed,) = json.loads(parachute(installation, "backup", "list", "--json")[0])
    assert (listed["id"], listed["finished"]) == (made["id"], True)
    assert made["id"] in parachute(installation, "backup", "list")[0]
    assert "is what was backed up" in parachute(installation, "backup", "verify", made["id"])[0]
    drilled = parachute(installation, "backup", "drill")[0]
    assert "can be restored: " in drilled
    assert "The computer starts from it" in drilled
    state = json.loads(parachute(installation, "backup", "status", "--json")[0])
    assert [state[name]["result"] for name in ("create", "verify", "drill")] == ["ok"] * 3
    assert (state["concerns"], state["protected"]) == ([NOT_PROTECTED], False)
    assert NOT_PROTECTED in parachute(installation, "backup", "list")[1]
    assert "Nothing was shown." in parachute(installation, "backup", "kit", code=3)[1]
    kit = json.loads(parachute(installation, "backup", "kit", "--yes", "--json")[0])
    page = parachute(installation, "backup", "kit", "--yes", "--html")[0]
    assert kit["password"] in page
    assert "<svg" in page
    assert "wrong" not in parachute(installation, "backup", "kit", "--yes")[0]
    assert "does not open" in parachute(installation, "backup", "kit", "--check", code=1, typed="x" * 43)[1]
    said = parachute(installation, "backup", "kit", "--check", typed=f"{kit['password']}\n")[0]
    assert "they are protected" in said
    assert parachute(installation, "backup", "kit", "--check", typed=kit["text"])[0] == said
    state = json.loads(parachute(installation, "backup", "status", "--json")[0])
    assert (state["concerns"], state["protected"]) == ([], True)
    other = installation.folder / "password"
    shutil.copy2(installation.access.password_file, other)
    other.write_text("another one\n")
    parachute(installation, "config", "set", "backup.password_file", str(other))
    assert NOT_PROTECTED in parachute(installation, "backup", "status")[1]
    parachute(installation, "config", "unset", "backup.password_file")
    assert parachute(installation, "backup", "status")[1] == ""
    assert json.loads(parachute(installation, "backup", "prune", "--json")[0])["removed"] == []

    (installation.vault / "note").write_text("second")
    assert "Cannot ask: no terminal." in parachute(installation, "backup", "restore", code=1)[1]
    assert (
        "There is no finished backup 'abc'" in parachute(installation, "backup", "restore", "abc", "--yes", code=1)[1]
    )
    said, _ = parachute(installation, "backup", "restore", "--yes")
    assert (installation.vault / "note").read_text() == "first"
    # The undo is followed to the letter.
    undo = next(line for line in said.splitlines() if " mv " in line)
    subprocess.run(undo, shell=True, check=True)
    assert (installation.vault / "note").read_text() == "second"


def test_a_backup_that_lacks_something_ends_with_three_and_status_shows_it(installation: Installation) -> None:
    (installation.vault / ".parachute" / "x.db").write_text("no database")
    _, said = parachute(installation, "backup", "create", code=3)
    assert "databases that SQLite cannot read" in said
    assert "'.parachute/x.db'" in said
    assert "is not complete" in parachute(installation, "backup", "status", code=1)[1]
    # `parachute status` shows it, too, when nothing runs.
    assert "is not complete" in parachute(installation, "status", code=3)[1]


def test_names_that_are_no_text_do_not_end_the_report(installation: Installation) -> None:
    os.mkfifo(os.fsencode(installation.vault) + b"/\xff\n")
    made = json.loads(parachute(installation, "backup", "create", "--json")[0])
    assert made["parts"]["vault"]["special"] == ["?\n"]


def test_a_running_computer_is_backed_up_and_not_restored_over(
    installation: Installation, make_computer: Make[Computer]
) -> None:
    computer = make_computer(backup={"repository": str(installation.repository_folder)})
    root = computer.home.root
    (root / "backup").mkdir(mode=0o700)
    (root / "backup" / "password").write_bytes(installation.access.password_file.read_bytes())
    (root / "backup" / "password").chmod(0o600)
    running = Installation.__new__(Installation)
    running.open(installation.folder)
    running.folder, running.home = computer.folder, root
    made = json.loads(parachute(running, "backup", "create", "--json")[0])
    assert made["complete"] is True
    assert made["parts"]["vault"]["databases"] >= 4
    assert made["parts"]["trust"]["databases"] >= 1
    (computer.vault / "after").write_text("the backup")
    said = parachute(running, "backup", "restore", "--yes", code=1)[1]
    assert "The computer is running" in said
    assert "parachute stop" in said
    assert (computer.vault / "after").exists()
    target = computer.folder / "beside"
    parachute(running, "backup", "restore", "--to", str(target))
    assert not (target / "vault" / "after").exists()
    computer.stop()
    parachute(running, "backup", "restore", "--yes", "--trust")
    assert not (computer.vault / "after").exists()
    computer.start()
    assert httpx2.get(f"{computer.url}/api/health", timeout=60, **PLAIN).status_code == 200
    parachute(running, "backup", "drill")


def test_help_and_status_need_no_restic(installation: Installation, tmp_path: Path) -> None:
    assert "drill" in parachute(installation, "backup", "--help", path=str(tmp_path))[0]
    assert "No backup was made yet." in parachute(installation, "backup", "status", code=1, path=str(tmp_path))[1]
    assert "restic is not installed" in parachute(installation, "backup", "create", code=1, path=str(tmp_path))[1]


def test_keys_are_not_brought_into_the_vault(installation: Installation) -> None:
    installation.create()
    link = installation.folder / "link"
    link.symlink_to(installation.vault)
    for target in (installation.vault / "back", link / "back", installation.vault / "a" / ".." / "back"):
        said = parachute(installation, "backup", "restore", "--trust", "--to", str(target), code=1)[1]
        assert "lies in the vault, where agents could read the keys" in said
    assert not (installation.vault / "back").exists()
    parachute(installation, "backup", "restore", "--trust", "--to", str(installation.folder / "back"))
    assert (installation.folder / "back" / "trust" / "config.yaml").exists()


def test_two_computers_of_one_name_and_the_same_folders_share_a_repository(installation: Installation) -> None:
    (installation.vault / "diary").write_text("mine")
    mine = installation.create()
    # The other one has all from the same image: name, folders, repository and password, but never ran here.
    aside = (
        installation.home.rename(installation.folder / "aside"),
        installation.vault.rename(installation.folder / "my vault"),
    )
    installation.home.mkdir(mode=0o700)
    (installation.vault / ".parachute").mkdir(parents=True)
    shutil.copy2(aside[0] / "config.yaml", installation.home)
    shutil.copy2(aside[0] / "backup" / "password", installation.places.folder)
    (installation.vault / "diary").write_text("theirs")
    theirs = [installation.create(retention=Retention(1, 0, 0)).id for _ in range(5)]
    assert {backup.id for backup in installation.backups()} == {mine.id, *theirs[2:]}
    listed = {each["id"]: each["own"] for each in json.loads(parachute(installation, "backup", "list", "--json")[0])}
    assert listed == {mine.id: False, **dict.fromkeys(theirs[2:], True)}
    assert "of another installation" in parachute(installation, "backup", "list")[0]
    shutil.rmtree(installation.home)
    shutil.rmtree(installation.vault)
    for path, place in zip(aside, (installation.home, installation.vault), strict=True):
        path.rename(place)
    assert installation.latest().id == mine.id
    parachute(installation, "backup", "restore", "--yes", "--trust")
    assert (installation.vault / "diary").read_text() == "mine"
    # It is the same installation afterwards.
    assert installation.latest().id == mine.id
    # What it has lost comes back by its name; the other's as well.
    parachute(installation, "backup", "restore", theirs[-1], "--yes")
    assert (installation.vault / "diary").read_text() == "theirs"


def test_what_was_just_made_is_not_removed_whatever_the_clock_says(installation: Installation) -> None:
    for number in range(4):
        names = ("parachute", *tags(f"f{number}", installation.places.installation, {"vault": "/a", "trust": "/b"}))
        options = ("--time", f"2099-01-0{number + 1} 12:00:00", "--tag", ",".join(names))
        installation.restic("backup", *options, str(installation.home / "config.yaml"))
    made = installation.create(retention=Retention(1, 0, 0))
    assert made.id in {backup.id for backup in installation.backups()}
    parachute(installation, "backup", "prune")
    assert installation.latest().id == made.id


def test_what_may_not_be_read_is_named_and_the_rest_is_a_sound_backup(installation: Installation) -> None:
    for name in ("open", "closed"):
        (installation.vault / name).write_text(name)
        (installation.vault / f"{name} folder").mkdir()
        (installation.vault / f"{name} folder" / "below").write_text(name)
    (installation.vault / "closed").chmod(0)
    (installation.vault / "closed folder").chmod(0)
    # Also for root, who could read everything otherwise.
    held = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(installation.folder),
        "PARACHUTE_HOME": str(installation.home),
    }
    command = [*held, sys.executable, "-m", "parachute.cli", "backup", "create", "--json"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.returncode == 3, ended.stderr
    assert json.loads(ended.stdout)["parts"]["vault"]["unreadable"] == ["closed", "closed folder"]
    assert "is what was backed up" in parachute(installation, "backup", "verify")[0]
    target = installation.folder / "back"
    parachute(installation, "backup", "restore", "--to", str(target))
    assert (target / "vault" / "open folder" / "below").read_text() == "open"
    assert not (target / "vault" / "closed").exists()
    (installation.vault / "closed folder").chmod(0o700)
