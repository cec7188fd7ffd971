"""D4, D5: a computer starts whatever became of its databases and keys, and says what it did."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.chat.runs.answers import answered, session_of
from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.messages_api import MessagesAPI, text

pytestmark = [pytest.mark.long, pytest.mark.computer]

Damage = Callable[[Path], None]


def truncate(path: Path) -> None:
    """Cut it in the middle of a page."""
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2 + 100)


def zero(path: Path) -> None:
    """As after a power cut on some file systems."""
    path.write_bytes(bytes(path.stat().st_size))


def flip(path: Path) -> None:
    """Bits of every page, as a dying card."""
    data = bytearray(path.read_bytes())
    for position in range(200, len(data), 512):
        data[position] ^= 0xFF
    path.write_bytes(data)


def replace(path: Path) -> None:
    """Something that is no database."""
    path.write_text("This is a text.\n" * 300)


DAMAGES: dict[str, Damage] = {"truncated": truncate, "zeroed": zero, "flipped": flip, "a text": replace}
NAMES = ("sessions.db", "runs.db", "events.db", "suggestions.db", "trust.db")


@pytest.fixture
def model() -> Iterator[MessagesAPI]:
    """A scripted model service."""
    with MessagesAPI() as service:
        service.default(text("Yes."))
        yield service


@pytest.fixture
def own(model: MessagesAPI) -> Iterator[ModuleComputer]:
    """A computer of this test alone."""
    with ModuleComputer(environment=model.credentials) as running:
        yield running


def place(own: ModuleComputer, name: str) -> Path:
    """Return the path of a database."""
    return own.home.trust_database if name == "trust.db" else own.vault / ".parachute" / name


def lost(own: ModuleComputer) -> dict[str, dict[str, Any]]:
    """Return the losses that status reports, by name."""
    return {Path(each["file"]).name: each for each in own.value("/api/status")["recovery"]}


def remove_copies(own: ModuleComputer) -> None:
    """Leave no copy of anything."""
    for folder in (own.home.root / "copies", own.vault / ".parachute" / "copies"):
        shutil.rmtree(folder, ignore_errors=True)


async def talk(own: ModuleComputer, *, level: str = "direct") -> str:
    """One conversation with one answer."""
    async with own.client() as client:
        return session_of(await answered(client, "Hello from the harbour!", trustLevel=level))


def titles(own: ModuleComputer) -> dict[str, dict[str, Any]]:
    """The listed sessions by id."""
    return {each["id"]: each for each in own.value("/api/chat")["sessions"]}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_damaged_databases_are_put_aside_and_their_copies_taken(own: ModuleComputer, damage: str) -> None:
    session = await talk(own)
    own.stop()
    for name in NAMES:
        DAMAGES[damage](place(own, name))
    own.start()
    found = lost(own)
    assert set(found) == set(NAMES)
    for name, notice in found.items():
        assert notice["condition"] == "damaged"
        assert Path(notice["put_aside"]).name.startswith(f"{name}.damaged-20")
        assert Path(notice["put_aside"]).exists()
        assert bool(notice["copy"]) == (name in ("sessions.db", "suggestions.db", "trust.db"))
        assert notice["message"] in own.logs()
    kept = titles(own)[session]
    assert (kept["trustLevel"], kept["messageCount"]) == ("direct", 2)
    assert "harbour" in str(own.value(f"/api/chat/{session}"))
    shown = own.command("status").stdout
    assert "sessions.db was damaged" in " ".join(shown.split())
    # Said until somebody has read it, and the next start finds nothing to mend.
    own.stop()
    own.start()
    assert lost(own) == found
    assert own.command("doctor", "lost-files", "--fix", "--yes").returncode == 0
    assert lost(own) == {}


@pytest.mark.parametrize("damage", ["flipped", "gone", "empty"])
async def test_without_copies_the_list_comes_from_the_transcripts_and_no_right_is_left(
    own: ModuleComputer, damage: str
) -> None:
    session = await talk(own)
    sandboxed = await talk(own, level="sandboxed")
    own.stop()
    remove_copies(own)
    for name in NAMES:
        path = place(own, name)
        if damage == "gone":
            path.unlink()
        elif damage == "empty":
            path.write_bytes(b"")
        else:
            DAMAGES[damage](path)
    own.start()
    found = lost(own)
    assert {name: notice["copy"] for name, notice in found.items()} == dict.fromkeys(NAMES)
    assert all(notice["condition"] in (damage, "damaged") for notice in found.values())
    own.wait_until(lambda: sandboxed in titles(own), "the list is complete")
    kept = titles(own)[sandboxed]
    assert (kept["title"], kept["trustLevel"], kept["messageCount"]) == ("Hello from the harbour!", "sandboxed", 2)
    assert titles(own).get(session, {}).get("trustLevel") in (None, "sandboxed")
    assert sandboxed in [each["id"] for each in own.value("/api/chat?search=harbour")["sessions"]]
    async with own.client() as client:
        assert (await answered(client, "And again?", sandboxed)).text == "Yes."


async def test_what_has_not_changed_is_not_copied_again(own: ModuleComputer) -> None:
    await talk(own)
    own.stop()
    copy = own.home.root / "copies/trust-daily.db"
    before = copy.stat().st_ino
    own.start()
    own.stop()
    assert copy.stat().st_ino == before
    own.start()


async def test_a_damaged_copy_is_not_taken(own: ModuleComputer) -> None:
    sandboxed = await talk(own, level="sandboxed")
    own.stop()
    for path in (place(own, "sessions.db"), own.vault / ".parachute/copies/sessions-daily.db"):
        flip(path)
    own.start()
    assert lost(own)["sessions.db"]["copy"] is None
    own.wait_until(lambda: sandboxed in titles(own), "the list is complete")


async def test_an_old_copy_gives_no_right_back(own: ModuleComputer) -> None:
    session = await talk(own)
    own.stop()
    trust = own.home.trust_database
    (trust.parent / "copies/trust-daily.db").rename(trust.parent / "copies/trust-0003.db")
    zero(trust)
    own.start()
    assert titles(own)[session]["trustLevel"] == "sandboxed"


async def test_the_doctor_restores_what_is_damaged(own: ModuleComputer) -> None:
    session = await talk(own)
    own.stop()
    flip(place(own, "sessions.db"))
    done = own.command("doctor", "databases", "--fix", "--yes", "--json")
    said = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout
    assert "sessions-daily.db took its place" in said["fixed"][0]["message"]
    with closing(sqlite3.connect(place(own, "sessions.db"))) as connection:
        assert connection.execute("SELECT id FROM sessions").fetchall() == [(session,)]
    own.start()
    assert session in titles(own)


def test_a_new_computer_has_lost_nothing(own: ModuleComputer) -> None:
    assert lost(own) == {}


def test_lost_keys_are_said_and_let_nobody_in(own: ModuleComputer) -> None:
    made = own.command("keys", "create", "phone", "--json")
    secret = json.loads(made.stdout)["key"]
    headers = {"authorization": f"Bearer {secret}"}
    assert own.get("/api/chat", headers=headers).status_code == 200
    own.stop()
    (own.home.root / "keys.yaml").unlink()
    own.host = "0.0.0.0"
    own.start()
    assert "keys.yaml was gone" in lost(own)["keys.yaml"]["message"]
    assert own.get("/api/chat", headers=headers).status_code == 401
    # As somebody elsewhere, by way of a proxy of this machine.
    assert own.get("/api/chat", headers={"x-forwarded-for": "192.0.2.7"}).status_code == 401
    assert own.post("/api/setup/finish").status_code in (401, 403, 404)
    assert "had keys, and their file is gone" in own.command("first-boot").stdout
    assert own.command("keys", "create", "phone").returncode == 0
    assert own.command("doctor", "lost-files", "--fix", "--yes").returncode == 0
    own.stop()
    own.start()
    assert lost(own) == {}
