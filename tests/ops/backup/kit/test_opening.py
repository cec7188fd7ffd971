"""The drill has what is on the emergency kit and nothing else; texts that are no kit change nothing."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.ops.backup import proof
from parachute.ops.backup.kit import protection
from parachute.ops.backup.kit.models import Kit, parse
from parachute.ops.backup.kit.service import check_kit, confirms, read_kit
from parachute.ops.backup.models import Damaged, Progress
from parachute.ops.backup.state import DRILL, State
from tests.ops.backup.installation import Installation
from tests.support.errors import raises

pytestmark = pytest.mark.process

WITNESS = f"""#!{sys.executable}
import json, os, sys
def seen(path):
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []
if "snapshots" in sys.argv:
    found = {{"home": os.environ["HOME"], "vault": seen("VAULT"), "state": seen("STATE"), "names": sorted(os.environ)}}
    found["network"] = [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]]
    with open(os.path.join(os.environ["RESTIC_REPOSITORY"], "seen"), "w") as file:
        json.dump(found, file)
os.execv("PROGRAM", ["restic", *sys.argv[1:]])
"""


@pytest.mark.long
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap: `make test-deps` installs it")
def test_a_drill_knows_nothing_of_this_computer(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (installation.vault / "note").write_text("mine")
    installation.create()
    program = tmp_path / "restic"
    text = WITNESS.replace("VAULT", str(installation.vault)).replace("STATE", str(installation.home / "backup"))
    program.write_text(text.replace("PROGRAM", str(shutil.which("restic"))))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of this computer")
    proof.drill(installation.places, installation.repository, Progress())
    seen = json.loads((installation.repository_folder / "seen").read_text())
    assert seen["vault"] == []
    assert seen["state"] == ["parachute-drill"]
    assert seen["network"] == ["lo"]
    assert "AWS_SECRET_ACCESS_KEY" not in seen["names"]
    assert Path(seen["home"]).parent.name == "parachute-drill"
    assert not (installation.home / "backup" / "parachute-drill").exists()


def test_a_drill_fails_if_the_kit_is_not_enough(installation: Installation) -> None:
    installation.create()
    installation.access.password_file.write_text("of another repository\n")
    with raises("wrong_password"):
        proof.drill(installation.places, installation.repository, Progress())
    found = State.read(installation.home).operations[DRILL]
    assert (found["result"], "Write the password from the emergency kit" in found["hint"]) == ("failed", True)


@pytest.mark.long
def test_what_is_damaged_is_found_with_what_to_do(installation: Installation) -> None:
    (installation.vault / "big").write_bytes(os.urandom(3_000_000))
    installation.create()
    installation.flip_bytes()
    with pytest.raises(Damaged):
        proof.drill(installation.places, installation.repository, Progress())
    assert "parachute backup verify" in State.read(installation.home).operations[DRILL]["hint"]


def test_the_kit_counts_until_its_password_or_its_place_is_another(installation: Installation) -> None:
    home = Home(installation.home)
    kit = read_kit(home)
    assert parse(kit.text) == kit
    assert not confirms(home, kit.password), "nobody knows yet that somebody has it"
    check_kit(home, f"\n{kit.text}\n")
    assert protection.opened(home, load(home)) is not None
    assert confirms(home, kit.password)
    assert not confirms(home, kit.password[:-1] + "x")
    assert kit.password not in (installation.home / "backup" / "kit.json").read_text()
    installation.access.password_file.write_text("another one\n")
    assert protection.opened(home, load(home)) is None
    assert not confirms(home, kit.password)
    installation.access.password_file.write_text(f"{kit.password}\n")
    assert protection.opened(home, load(home)) is not None
    config = installation.home / "config.yaml"
    config.write_text(config.read_text().replace("usb/backup", "usb/other"))
    assert protection.opened(home, load(home)) is None


@pytest.mark.parametrize("wrong", [b"", b"[]", b'{"opened_at": 1}', b'{"salt": "zz"}', b"[" * 20_000, b"\xff"])
def test_what_is_no_record_of_a_kit_protects_nothing(installation: Installation, wrong: bytes) -> None:
    home = Home(installation.home)
    (installation.home / "backup" / "kit.json").write_bytes(wrong)
    assert protection.opened(home, load(home)) is None


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("no_kit", ""),
        ("no_kit", "hello"),
        ("kit_too_new", "Parachute backup kit 2\nplace: /a\npassword: x"),
        ("kit_incomplete", "Parachute backup kit 1\nplace: /a"),
        ("kit_line_unreadable", "Parachute backup kit 1\nplace: /a\npassword: x\nLD_PRELOAD: /vault/x"),
        ("kit_line_unreadable", "Parachute backup kit 1\nplace: /a\nAWS_SHARED_CREDENTIALS_FILE: /vault/x"),
        ("kit_line_unreadable", "Parachute backup kit 1\nplace: /a\nplace: /b\npassword: x"),
        ("kit_line_unreadable", "Parachute backup kit 1\nplace: /a\npassword:"),
        ("no_kit", "Parachute backup kit 1\nplace: /a\npassword: x" + "\nB2_ACCOUNT_ID: " + "x" * 9000),
    ],
)
def test_a_text_that_is_no_kit_is_refused_without_saying_what_it_holds(key: str, text: str) -> None:
    with raises(key) as refused:
        parse(text)
    assert "/vault" not in str(refused.value)


def test_a_kit_has_what_can_be_typed_and_names_what_it_has_not() -> None:
    kit = Kit("s3:host/bucket", "p", {"AWS_ACCESS_KEY_ID": "a: b"}, "0123456789abcdef0")
    assert parse(kit.text) == kit
    assert kit.needs is None
    assert (Kit("sftp:me@nas:/x", "p").needs, Kit("rclone:far:x", "p").needs) == ("ssh_key", "rclone")
