"""Keys and approvals: in a snapshot of their own, and restored only on request."""

import json
import shutil
from pathlib import Path

import pytest

from parachute.modules.registry import dependencies
from parachute.modules.registry.requirements import Lock, interpreter_tag
from parachute.security.kill_switch.switch import KillSwitch

from .installation import Installation, looked_at

pytestmark = pytest.mark.long

SECRET = b"pk_7f3c9e51a0d24b68-never-in-the-vault"


def furnish(home: Path) -> None:
    """A state directory with a secret in every kind of file."""
    for name in (
        "keys.yaml",
        "credentials.json",
        "mcp-secrets.json",
        "mcp-logins.json",
        "git-tokens.json",
        "bot-tokens.json",
        "bots.yaml",
        "cli.token",
        "modules.yaml",
        "hooks/x.sh",
    ):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_bytes(SECRET)
        (home / name).chmod(0o600)
    for name in ("logs/core.log", "run/x.json", "sandboxes/s.json", "caches/one/x", "modules/mine/abc/packages/p.py"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("only now, only here")
    copy = home / "modules" / "mine" / "abc"
    (copy / "wheels").mkdir()
    (copy / "code").mkdir()
    (copy / "code" / "module.py").write_text("approved")
    (copy / "lock.txt").write_text(Lock((), interpreter_tag(), ()).render())
    (home / "module-data" / "mine").mkdir(parents=True)
    (home / "module-data" / "mine" / "notes.txt").write_text("a module's own")


def test_no_secret_comes_back_with_the_vault_and_the_password_is_in_no_backup(installation: Installation) -> None:
    furnish(installation.home)
    (installation.vault / "note").write_text("public")
    installation.create()
    installation.restore_into(installation.folder / "back")
    for path in (installation.folder / "back").rglob("*"):
        assert not path.is_file() or SECRET not in path.read_bytes()
        assert path.name != "keys.yaml"
    password = installation.access.password_file.read_bytes().strip()
    (snapshot,) = installation.latest().snapshots
    content = installation.content(snapshot)
    assert SECRET in content
    assert password not in content
    assert b"only now, only here" not in content
    for path in installation.repository_folder.rglob("*"):
        assert not path.is_file() or SECRET not in path.read_bytes()


def test_restoring_the_vault_leaves_trust_as_it_is(installation: Installation) -> None:
    furnish(installation.home)
    installation.create()
    (installation.home / "keys.yaml").write_text("withdrawn")
    before = looked_at(installation.home, (b"backup",))
    result = installation.restore()
    assert looked_at(installation.home, (b"backup",)) == before
    assert list(result.places) == ["vault"]


def test_restoring_trust_brings_all_of_it_and_keeps_what_belongs_to_now(installation: Installation) -> None:
    furnish(installation.home)
    installation.create()
    (installation.home / "keys.yaml").write_text("withdrawn")
    KillSwitch(installation.home).engage("me")
    result = installation.restore(trust=True)
    home = installation.home
    assert (home / "keys.yaml").read_bytes() == SECRET
    assert (home / "hooks" / "x.sh").stat().st_mode & 0o777 == 0o600
    assert (home / "module-data" / "mine" / "notes.txt").read_text() == "a module's own"
    assert home.stat().st_mode & 0o777 == 0o700
    assert not (home / "run").exists()
    # Agents that were stopped stay so, and a module is made ready again from what was approved.
    assert KillSwitch(home).panic is not None
    copy = home / "modules" / "mine" / "abc"
    assert not (copy / "packages").exists()
    assert (copy / "code" / "module.py").read_text() == "approved"
    assert not dependencies.fits(copy)
    kept = result.kept["trust"]
    assert kept is not None
    assert (Path(kept) / "keys.yaml").read_text() == "withdrawn"
    # The password is in no backup and went along all the same.
    assert installation.create().is_complete


def test_an_update_under_way_does_not_come_back(installation: Installation) -> None:
    updates = installation.home / "updates"
    for name in ("update.json", "units/core.service", "kept/home/keys.yaml", "kept.written-since-2026/home/keys.yaml"):
        (updates / name).parent.mkdir(parents=True, exist_ok=True)
        (updates / name).write_text("of then")
    installation.create()
    installation.restore(trust=True)
    found = [str(path.relative_to(updates)) for path in updates.rglob("*") if path.is_file()]
    assert found == ["kept.written-since-2026/home/keys.yaml"]


def test_a_password_that_was_changed_since_the_backup_stays_in_force(installation: Installation) -> None:
    own = installation.home / "secrets" / "password"
    own.parent.mkdir(mode=0o700)
    shutil.copy2(installation.access.password_file, own)
    installation.use_password(own)
    installation.create()
    changed = installation.folder / "changed"
    changed.write_text("changed\n")
    installation.restic("key", "passwd", "--new-password-file", str(changed))
    own.write_text("changed\n")
    installation.restore(trust=True)
    assert own.read_text() == "changed\n"
    assert own.stat().st_mode & 0o777 == 0o600
    assert installation.create().is_complete


def test_a_new_computer_needs_only_the_repository_and_the_password(installation: Installation) -> None:
    furnish(installation.home)
    (installation.vault / "note").write_text("what I wrote")
    installation.create()
    password = installation.access.password_file.read_text()
    shutil.rmtree(installation.home)
    shutil.rmtree(installation.vault)
    installation.home.mkdir(mode=0o700)
    (installation.places.folder / "password").write_text(password)
    installation.access.password_file.chmod(0o600)
    result = installation.restore(trust=True)
    assert (installation.vault / "note").read_text() == "what I wrote"
    assert (installation.home / "keys.yaml").read_bytes() == SECRET
    assert result.kept["vault"] is None


@pytest.mark.parametrize("trust", [False, True])
def test_beside_trust_comes_back_only_if_asked_for(installation: Installation, trust: bool) -> None:
    furnish(installation.home)
    installation.create()
    target = installation.folder / "back"
    installation.restore_into(target, trust=trust)
    assert sorted(path.name for path in target.iterdir()) == (["trust", "vault"] if trust else ["vault"])
    assert json.loads((installation.places.folder / "state.json").read_text())["create"]["result"] == "ok"
