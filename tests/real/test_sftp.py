"""Backups to a machine that is reached by ssh: from nothing to a restored vault, and machines and keys that are not the right ones."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import needs_bubblewrap
from tests.ops.backup.installation import Installation
from tests.real import installed
from tests.real.sshd import Sftp, make_key, sshd

pytestmark = [needs_bubblewrap, pytest.mark.long]


@pytest.fixture
def house() -> Iterator[Installation]:
    """A vault and a state directory without a place for backups."""
    installed.debian("restic", "restic")
    found = Installation(None)
    (found.home / "config.yaml").write_text(f"vault: {found.vault}\n")
    found.access.password_file.unlink()
    yield found
    found.close()


@pytest.fixture
def sftp(house: Installation, tmp_path: Path) -> Iterator[Sftp]:
    """The other machine, which knows the owner's key."""
    with sshd(tmp_path, house.folder) as running:
        yield running


def parachute(house: Installation, sftp: Sftp, *arguments: str, code: int = 0) -> tuple[str, str]:
    """Run the command, which must end with `code`; standard output and standard error."""
    ended = subprocess.run(
        [*sftp.as_person(), sys.executable, "-m", "parachute.cli", *arguments],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(house.folder),
            "LANG": "C.UTF-8",
            "PARACHUTE_HOME": str(house.home),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == code, (ended.stdout, ended.stderr, (sftp.folder / "log").read_text())
    assert "Traceback" not in ended.stderr
    return ended.stdout, ended.stderr


def test_from_nothing_to_a_restored_vault(house: Installation, sftp: Sftp) -> None:
    (house.vault / "note").write_text("first")
    (house.vault / "large").write_bytes(os.urandom(20 << 20))
    made = json.loads(parachute(house, sftp, "backup", "init", sftp.address, "--json")[0])
    assert made["complete"] is True
    assert (sftp.folder / "backup/config").exists()
    (house.vault / "note").write_text("second")
    again = json.loads(parachute(house, sftp, "backup", "create", "--json")[0])
    listed = json.loads(parachute(house, sftp, "backup", "list", "--json")[0])
    assert {each["id"] for each in listed} == {made["backup"], again["id"]}
    assert "is what was backed up" in parachute(house, sftp, "backup", "verify")[0]
    assert "can be restored: " in parachute(house, sftp, "backup", "drill")[0]
    (house.vault / "note").write_text("third")
    parachute(house, sftp, "backup", "restore", "--yes")
    assert (house.vault / "note").read_text() == "second"
    target = house.folder / "beside"
    parachute(house, sftp, "backup", "restore", made["backup"], "--to", str(target))
    assert "first" in [path.read_text() for path in target.rglob("note")]


def test_another_machine_behind_the_address_is_refused(house: Installation, sftp: Sftp) -> None:
    for public in (make_key(sftp.folder / "other"), Path(os.devnull)):
        sftp.know(public)
        said = parachute(house, sftp, "backup", "init", sftp.address, code=1)[1]
        # restic may end before it has handed on the words of ssh, so that only this is sure.
        assert "the key that it shows" in said or "a host key that is new or another one" in said
    assert not (sftp.folder / "backup").exists()
    assert "repository" not in (house.home / "config.yaml").read_text()


def test_a_key_that_is_not_let_in_is_named(house: Installation, sftp: Sftp) -> None:
    (sftp.folder / "let-in").write_text("")
    said = parachute(house, sftp, "backup", "init", sftp.address, code=1)[1]
    assert "authorized_keys" in said
