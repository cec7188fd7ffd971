"""Restoring over HTTP: a computer that runs takes over what another one has backed up, as a browser asks for it."""

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from parachute.base import swap
from tests.support.browser import Browser, new_code, owners
from tests.support.computer import Computer
from tests.support.waiting import still_running, wait_until

pytestmark = pytest.mark.long


@dataclass
class Backup:
    """A backup that a computer has made which is gone: where it is, its password, and a key of then."""

    repository: Path
    password: str
    id: str
    key: str


@pytest.fixture(scope="module")
def backup(empty_repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Backup:
    """Make a backup of a household, and remove its computer."""
    repository = tmp_path_factory.mktemp("usb") / "repository"
    shutil.copytree(empty_repository / "repository", repository)
    password = (empty_repository / "password").read_text().strip()
    with Computer(settings={"backup": {"repository": str(repository), "keep_daily": 9}}) as computer:
        place(computer, password)
        (computer.vault / "Daily").mkdir()
        (computer.vault / "Daily" / "note.md").write_text("what I wrote")
        (computer.vault / "big").write_bytes(os.urandom(3_000_000))
        key = owners(computer, "POST", "/api/auth/keys", {"label": "Old phone"}).json()["key"]
        assert owners(computer, "POST", "/api/backups").status_code == 202
        ended(computer)
        (made,) = owners(computer, "GET", "/api/backups/list").json()["backups"]
    assert made["bytes"] > 3_000_000
    return Backup(repository, password, made["id"], key)


def place(computer: Computer, password: str) -> None:
    """Give it the password of the backups."""
    file = computer.home.root / "backup" / "password"
    file.parent.mkdir(mode=0o700, exist_ok=True)
    file.write_text(f"{password}\n")
    file.chmod(0o600)


def ended(computer: Computer) -> dict[str, Any]:
    """Return the status of backups when nothing is under way."""

    def over() -> Any:
        found = owners(computer, "GET", "/api/backups").json()
        return found if found["running"] is None else None

    found: dict[str, Any] = wait_until(over, "nothing is under way")
    return found


def outcome(computer: Computer, other_than: str | None = None) -> dict[str, Any]:
    """Return the result of the next restore, as soon as the computer says so."""

    def last() -> Any:
        try:
            found = owners(computer, "GET", "/api/backups/restore")
        except httpx2.TransportError:
            return None
        known = found.json().get("last") if found.status_code == 200 else None
        return known if known and known["at"] != other_than else None

    found: dict[str, Any] = wait_until(last, "the restore has ended", computer.logs)
    return found


@pytest.fixture
def fresh(computer: Computer) -> Computer:
    """A computer that holds a file."""
    (computer.vault / "mine").write_text("of the fresh one")
    return computer


@pytest.fixture
def browser(fresh: Computer) -> Iterator[Browser]:
    """A browser that has just signed in there."""
    with Browser(fresh) as page:
        page.sign_in()
        yield page


def use(browser: Browser, backup: Backup, password: str | None = None) -> httpx2.Response:
    """Open the repository."""
    body = {"repository": str(backup.repository), "password": password or backup.password}
    return browser.ask("PUT", "/api/backups/access", body)


def names(computer: Computer) -> list[str]:
    """Return the names beside the vault and the state directory."""
    return sorted(path.name for path in computer.folder.iterdir())


def test_a_fresh_computer_becomes_the_one_of_the_backup_and_its_browser_stays(
    fresh: Computer, browser: Browser, backup: Backup
) -> None:
    wrong = use(browser, backup, "of something else")
    assert (wrong.status_code, wrong.json()["key"]) == (400, "wrong_password")
    assert "does not open the backups in" in wrong.json()["detail"]
    assert owners(fresh, "GET", "/api/backups").json()["configured"] is False
    assert not list((fresh.home.root / "backup").glob("password*"))
    assert use(browser, backup).json()["repository"] == str(backup.repository)
    (found,) = browser.get("/api/backups/list").json()["backups"]
    assert (found["id"], found["own"], found["finished"]) == (backup.id, False, True)

    me = browser.me()
    begun = browser.post("/api/backups/restore", {"backup": backup.id, "trust": True})
    assert (begun.status_code, begun.json()["kind"]) == (202, "restore")
    last = outcome(fresh)
    assert (last["result"], last["backup"], last["trust"], last["problem"]) == ("restored", backup.id, True, None)
    assert (fresh.vault / "Daily" / "note.md").read_text() == "what I wrote"
    assert not (fresh.vault / "mine").exists()
    # What was there is kept beside it.
    vault, state = map(Path, last["kept"])
    assert (vault / "mine").read_text() == "of the fresh one"
    assert (state / "browser-sessions.yaml").exists()
    # The browser is the same one, has nothing to confirm yet, and the keys of then open again.
    assert (browser.me()["id"], browser.me()["scopes"]) == (me["id"], me["scopes"])
    assert browser.me()["confirmed_until"] is not None
    old = httpx2.get(
        f"{fresh.url}/api/auth/keys", headers={"authorization": f"Bearer {backup.key}"}, timeout=60, trust_env=False
    )
    assert "Old phone" in {key["label"] for key in old.json()["keys"]}
    # Settings are those of then, but for where this computer is and where its backups are.
    config = (fresh.home.root / "config.yaml").read_text()
    assert "keep_daily: 9" in config
    assert f"vault: {fresh.vault}" in config
    assert owners(fresh, "POST", "/api/backups").status_code == 202
    assert ended(fresh)["problem"] is None

    def recorded() -> list[dict[str, Any]]:
        files = (fresh.vault / ".parachute" / "audit").glob("*.jsonl")
        records = (json.loads(line) for path in files for line in path.read_text().splitlines())
        return [each for each in records if each["event_type"] == "restore"]

    (record,) = wait_until(recorded, "the restore is recorded")
    assert (record["success"], record["with_keys"], record["browser_kept"]) == (True, True, me["id"])
    # The log goes on where it is looked for.
    assert "is restored now" in (fresh.home.logs / "supervisor.log").read_text()

    # And back again.
    gone = browser.post("/api/backups/restore/undo")
    assert gone.status_code == 202, gone.text
    back = outcome(fresh, last["at"])
    assert (back["result"], back["problem"]) == ("back", None)
    assert (fresh.vault / "mine").read_text() == "of the fresh one"
    assert browser.me()["id"] == me["id"]
    assert all(".restored-" in path for path in back["kept"])
    assert browser.post("/api/pairing/confirm", {"code": new_code(fresh)["code"]}).status_code == 200
    assert browser.ask("DELETE", "/api/backups/restore/kept").status_code == 200
    assert names(fresh) == [".parachute", "Parachute"]
    nothing = browser.post("/api/backups/restore/undo")
    assert (nothing.status_code, nothing.json()["key"]) == (409, "nothing_kept")


def test_the_vault_alone_leaves_keys_and_browsers_as_they_are(
    fresh: Computer, browser: Browser, backup: Backup
) -> None:
    use(browser, backup)
    me = browser.me()["id"]
    browser.post("/api/backups/restore", {"backup": "latest", "trust": False})
    last = outcome(fresh)
    assert (last["result"], last["trust"], len(last["kept"])) == ("restored", False, 1)
    assert (fresh.vault / "Daily" / "note.md").exists()
    assert browser.me()["id"] == me
    assert [key["label"] for key in owners(fresh, "GET", "/api/auth/keys").json()["keys"]] == []


def slowed(computer: Computer, folder: Path) -> Computer:
    """The same with a restic that takes its time."""
    program = folder / "restic"
    program.write_text(f'#!/bin/sh\nexec {shutil.which("restic")} --limit-download 64 "$@"\n')
    program.chmod(0o755)
    computer._environment["PATH"] = f"{folder}:{os.environ['PATH']}"
    return computer


def restoring(computer: Computer) -> psutil.Process:
    """The restic that restores now."""

    def at_work() -> list[psutil.Process]:
        found = []
        for each in computer.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                if each.name() == "restic" and "restore" in each.cmdline():
                    found.append(each)
        return found

    found: psutil.Process = wait_until(at_work, "restic restores", computer.logs)[0]
    return found


@pytest.mark.computer
def test_what_is_cut_off_while_it_is_fetched_has_changed_nothing(backup: Backup, tmp_path: Path) -> None:
    with slowed(Computer(), tmp_path) as computer, Browser(computer) as browser:
        (computer.vault / "mine").write_text("of the fresh one")
        browser.sign_in()
        use(browser, backup)
        begin = {"backup": backup.id, "trust": True}
        assert browser.post("/api/backups/restore", begin).status_code == 202
        process = restoring(computer)
        running = owners(computer, "GET", "/api/backups").json()["running"]
        assert running["kind"] == "restore"
        assert browser.post("/api/backups").json()["key"] == "busy"
        assert browser.post("/api/backups/restore/undo").json()["key"] == "busy"

        def told() -> Any:
            now = owners(computer, "GET", "/api/backups").json()["running"]
            return now["step"] == "Restoring vault" and now["part"] is not None

        wait_until(told, "it says how far it is")
        # Taken back by its owner.
        assert browser.ask("DELETE", "/api/backups/running").status_code == 200
        assert not still_running([process])
        assert names(computer) == [".parachute", "Parachute"]
        assert browser.ask("DELETE", "/api/backups/running").json()["key"] == "nothing_under_way"

        # And by kill -9 of the server.
        browser.post("/api/backups/restore", begin)
        process = restoring(computer)
        computer.kill_core()
        assert not still_running([process])
        wait_until(lambda: names(computer) == [".parachute", "Parachute"], "what was fetched is gone", computer.logs)
        assert (computer.vault / "mine").read_text() == "of the fresh one"
        assert owners(computer, "GET", "/api/backups/restore").json() == {"last": None}
        assert owners(computer, "GET", "/api/backups").json()["running"] is None


@pytest.mark.computer
def test_a_full_disk_is_said_and_changes_nothing(backup: Backup, tmp_path: Path) -> None:
    program = tmp_path / "restic"
    program.write_text(
        '#!/bin/sh\ncase "$*" in *"restore "*) echo "Fatal: write: no space left on device" >&2; exit 1;; esac\n'
        f'exec {shutil.which("restic")} "$@"\n'
    )
    program.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    with Computer(environment=environment) as computer, Browser(computer) as browser:
        browser.sign_in()
        use(browser, backup)
        browser.post("/api/backups/restore", {"backup": backup.id, "trust": True})
        assert "There is no room" in ended(computer)["problem"]
        assert names(computer) == [".parachute", "Parachute"]


def test_what_was_ordered_is_done_whoever_is_killed(fresh: Computer, browser: Browser, backup: Backup) -> None:
    """kill -9 of all after it was made ready, and before anything has moved."""
    use(browser, backup)
    killed = False

    def kill() -> bool:
        nonlocal killed
        if swap.is_ordered(fresh.home.root):
            for process in fresh.processes():
                # With the supervisor others end by themselves.
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            killed = True
        return killed

    browser.post("/api/backups/restore", {"backup": backup.id, "trust": True})
    wait_until(kill, "it is ordered")
    fresh._process.wait()  # type: ignore[union-attr]
    fresh._process = None
    fresh.start()
    assert (fresh.vault / "Daily" / "note.md").read_text() == "what I wrote"
    assert outcome(fresh)["result"] == "restored"


def settings_of_another_world(computer: Computer) -> tuple[Path, Path]:
    """A state directory that no version can start with, as that of a later version may be."""
    ready = computer.folder / ".parachute.restored"
    shutil.copytree(computer.home.root, ready, ignore=lambda folder, found: {"run", "logs"} & set(found))
    (ready / "config.yaml").write_text("of: another world\n")
    return computer.home.root, ready


def no_vault(computer: Computer) -> tuple[Path, Path]:
    """A folder of files in which no computer has worked, while the state directory knows a vault at its place."""
    ready = computer.folder / ".Parachute.restored"
    ready.mkdir()
    return computer.vault, ready


@pytest.mark.parametrize("prepare", [settings_of_another_world, no_vault])
def test_what_does_not_start_goes_back_by_itself(
    fresh: Computer, browser: Browser, backup: Backup, prepare: Callable[[Computer], tuple[Path, Path]]
) -> None:
    use(browser, backup)
    current, ready = prepare(fresh)
    place_of_note = str(fresh.home.root / "backup" / "restored.json")
    planned = swap.Swap(str(current), str(ready), f"{current}.before", ready.stat().st_ino)
    about = {"kind": "restore", "backup": backup.id, "made_at": "", "computer": "", "trust": True}
    swap.order(fresh.home.root, swap.Plan((planned,), (), place_of_note, about))
    # The server that orders it may end before the supervisor hears of it: the next one tells.
    fresh.kill_core()
    last = outcome(fresh)
    assert last["result"] == "back"
    assert "core" in last["problem"]
    assert browser.me()["signed_in"]
    assert (fresh.vault / "mine").read_text() == "of the fresh one"


def test_it_is_the_owners_word(fresh: Computer) -> None:
    with httpx2.Client(base_url=fresh.url, timeout=60, trust_env=False) as local:
        for method, path in (
            ("PUT", "/api/backups/access"),
            ("POST", "/api/backups/restore"),
            ("POST", "/api/backups/restore/undo"),
            ("DELETE", "/api/backups/restore/kept"),
        ):
            assert local.request(method, path, json={}).status_code == 403, path
    with Browser(fresh) as page:
        page.sign_in()
        fresh.kill_core()  # it forgets who has confirmed
        refused = page.post("/api/backups/restore", {"backup": "latest", "trust": True})
        assert (refused.status_code, refused.json()["key"]) == (403, "confirmation_needed")
