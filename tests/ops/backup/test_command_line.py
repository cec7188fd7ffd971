"""`parachute backup` as a person types it, and beside a computer that runs."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from parachute.ops.backup.backups import Retention, tags
from tests.support.computer import Computer

from .household import Household
from .quick_key import open_quickly

pytestmark = pytest.mark.long


def parachute(household: Household, *arguments: str, code: int = 0, path: str | None = None) -> tuple[str, str]:
    """Run the command, which must end with `code`; standard output and standard error."""
    environment = {"PATH": path or os.environ["PATH"], "HOME": str(household.folder), "LANG": "C.UTF-8"}
    ended = subprocess.run(
        [sys.executable, "-m", "parachute.cli", *arguments],
        env={**environment, "PARACHUTE_HOME": str(household.home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == code, (ended.stdout, ended.stderr)
    assert "Traceback" not in ended.stderr
    return ended.stdout, ended.stderr


def test_from_nothing_to_a_restored_vault(household: Household) -> None:
    household.access.password_file.unlink()
    for path in sorted(household.repository_folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    household.repository_folder.rmdir()
    assert "No backup was made yet." in parachute(household, "backup", "status", code=1)[1]
    assert "The password of the backups is missing" in parachute(household, "backup", "create", code=1)[1]
    said, _ = parachute(household, "backup", "init")
    assert "Keep a copy elsewhere" in said
    password = household.access.password_file
    assert password.stat().st_mode & 0o777 == 0o600
    assert len(password.read_text().strip()) >= 43
    assert password.read_text().strip() not in said
    assert "already" in parachute(household, "backup", "init", code=1)[1]
    open_quickly(household.repository_folder, password.read_text().strip())

    (household.vault / "note").write_text("first")
    made = json.loads(parachute(household, "backup", "create", "--json")[0])
    assert made["complete"] is True
    assert made["parts"]["vault"]["files"] == 1
    (listed,) = json.loads(parachute(household, "backup", "list", "--json")[0])
    assert (listed["id"], listed["finished"]) == (made["id"], True)
    assert made["id"] in parachute(household, "backup", "list")[0]
    assert "is what was backed up" in parachute(household, "backup", "verify", made["id"])[0]
    assert "can be restored: " in parachute(household, "backup", "drill")[0]
    state = json.loads(parachute(household, "backup", "status", "--json")[0])
    assert [state[name]["result"] for name in ("create", "verify", "drill")] == ["ok"] * 3
    assert state["concerns"] == []
    assert json.loads(parachute(household, "backup", "prune", "--json")[0])["removed"] == []

    (household.vault / "note").write_text("second")
    assert "Nobody is there to confirm it." in parachute(household, "backup", "restore", code=1)[1]
    assert "There is no finished backup 'abc'" in parachute(household, "backup", "restore", "abc", "--yes", code=1)[1]
    said, _ = parachute(household, "backup", "restore", "--yes")
    assert (household.vault / "note").read_text() == "first"
    # The undo is followed to the letter.
    undo = next(line for line in said.splitlines() if " mv " in line)
    subprocess.run(undo, shell=True, check=True)
    assert (household.vault / "note").read_text() == "second"


def test_a_backup_that_lacks_something_ends_with_three_and_status_shows_it(household: Household) -> None:
    (household.vault / ".parachute" / "x.db").write_text("no database")
    _, said = parachute(household, "backup", "create", code=3)
    assert "databases that SQLite cannot read" in said
    assert "'.parachute/x.db'" in said
    assert "is not complete" in parachute(household, "backup", "status", code=1)[1]
    # `parachute status` shows it, too, when nothing runs.
    assert "is not complete" in parachute(household, "status", code=3)[1]


def test_names_that_are_no_text_do_not_end_the_report(household: Household) -> None:
    os.mkfifo(os.fsencode(household.vault) + b"/\xff\n")
    made = json.loads(parachute(household, "backup", "create", "--json")[0])
    assert made["parts"]["vault"]["special"] == ["?\n"]


@pytest.fixture
def computer(household: Household) -> Iterator[Computer]:
    """A computer of its own that backs up into the household's repository."""
    with Computer(settings={"backup": {"repository": str(household.repository_folder)}}) as found:
        yield found


def test_a_running_computer_is_backed_up_and_not_restored_over(household: Household, computer: Computer) -> None:
    root = computer.home.root
    (root / "backup").mkdir(mode=0o700)
    (root / "backup" / "password").write_bytes(household.access.password_file.read_bytes())
    (root / "backup" / "password").chmod(0o600)
    running = Household.__new__(Household)
    running.open(household.folder)
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
    assert httpx2.get(f"{computer.url}/api/health", trust_env=False).status_code == 200
    parachute(running, "backup", "drill")


def test_help_and_status_need_no_restic(household: Household, tmp_path: Path) -> None:
    assert "drill" in parachute(household, "backup", "--help", path=str(tmp_path))[0]
    assert "No backup was made yet." in parachute(household, "backup", "status", code=1, path=str(tmp_path))[1]
    assert "restic is not installed" in parachute(household, "backup", "create", code=1, path=str(tmp_path))[1]


def test_keys_are_not_brought_into_the_vault(household: Household) -> None:
    household.create()
    link = household.folder / "link"
    link.symlink_to(household.vault)
    for target in (household.vault / "back", link / "back", household.vault / "a" / ".." / "back"):
        said = parachute(household, "backup", "restore", "--trust", "--to", str(target), code=1)[1]
        assert "lies in the vault, where agents could read the keys" in said
    assert not (household.vault / "back").exists()
    parachute(household, "backup", "restore", "--trust", "--to", str(household.folder / "back"))
    assert (household.folder / "back" / "trust" / "config.yaml").exists()


def test_two_computers_of_one_name_and_the_same_folders_share_a_repository(household: Household) -> None:
    (household.vault / "diary").write_text("mine")
    mine = household.create()
    # The other one has all from the same image: name, folders, repository and password, but never ran here.
    aside = household.home.rename(household.folder / "aside"), household.vault.rename(household.folder / "my vault")
    household.home.mkdir(mode=0o700)
    (household.vault / ".parachute").mkdir(parents=True)
    shutil.copy2(aside[0] / "config.yaml", household.home)
    shutil.copy2(aside[0] / "backup" / "password", household.places.folder)
    (household.vault / "diary").write_text("theirs")
    theirs = [household.create(retention=Retention(1, 0, 0)).id for _ in range(5)]
    assert {backup.id for backup in household.backups()} == {mine.id, *theirs[2:]}
    listed = {each["id"]: each["own"] for each in json.loads(parachute(household, "backup", "list", "--json")[0])}
    assert listed == {mine.id: False, **dict.fromkeys(theirs[2:], True)}
    assert "of another installation" in parachute(household, "backup", "list")[0]
    shutil.rmtree(household.home)
    shutil.rmtree(household.vault)
    for path, place in zip(aside, (household.home, household.vault), strict=True):
        path.rename(place)
    assert household.latest().id == mine.id
    parachute(household, "backup", "restore", "--yes", "--trust")
    assert (household.vault / "diary").read_text() == "mine"
    # It is the same installation afterwards.
    assert household.latest().id == mine.id
    # What it has lost comes back by its name; the other's as well.
    parachute(household, "backup", "restore", theirs[-1], "--yes")
    assert (household.vault / "diary").read_text() == "theirs"


def test_what_was_just_made_is_not_removed_whatever_the_clock_says(household: Household) -> None:
    for number in range(4):
        names = ("parachute", *tags(f"f{number}", household.places.installation, {"vault": "/a", "trust": "/b"}))
        options = ("--time", f"2099-01-0{number + 1} 12:00:00", "--tag", ",".join(names))
        household.restic("backup", *options, str(household.home / "config.yaml"))
    made = household.create(retention=Retention(1, 0, 0))
    assert made.id in {backup.id for backup in household.backups()}
    parachute(household, "backup", "prune")
    assert household.latest().id == made.id


def test_what_may_not_be_read_is_named_and_the_rest_is_a_sound_backup(household: Household) -> None:
    for name in ("open", "closed"):
        (household.vault / name).write_text(name)
        (household.vault / f"{name} folder").mkdir()
        (household.vault / f"{name} folder" / "below").write_text(name)
    (household.vault / "closed").chmod(0)
    (household.vault / "closed folder").chmod(0)
    # Also for root, who could read everything otherwise.
    held = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    environment = {"PATH": os.environ["PATH"], "HOME": str(household.folder), "PARACHUTE_HOME": str(household.home)}
    command = [*held, sys.executable, "-m", "parachute.cli", "backup", "create", "--json"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.returncode == 3, ended.stderr
    assert json.loads(ended.stdout)["parts"]["vault"]["unreadable"] == ["closed", "closed folder"]
    assert "is what was backed up" in parachute(household, "backup", "verify")[0]
    target = household.folder / "back"
    parachute(household, "backup", "restore", "--to", str(target))
    assert (target / "vault" / "open folder" / "below").read_text() == "open"
    assert not (target / "vault" / "closed").exists()
    (household.vault / "closed folder").chmod(0o700)
