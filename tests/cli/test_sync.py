"""`parachute sync` on a laptop, against a computer."""

import json
import signal
from pathlib import Path

import pytest

from tests.support.making import Make
from tests.support.server import Server
from tests.support.terminal import Terminal
from tests.support.waiting import wait_until


@pytest.fixture
def server(make_server: Make[Server]) -> Server:
    """A computer with one note."""
    made = make_server()
    (made.vault / "Notes").mkdir()
    (made.vault / "Notes/peas.md").write_text("Sow peas.\n")
    return made


def key_file(parachute: Terminal, server: Server) -> Path:
    """A key of the computer for the laptop."""
    parachute.environment["PARACHUTE_HOME"] = str(server.home.root)
    made = json.loads(parachute.ok("keys", "create", "laptop", "--scope", "vault:write", "--json"))
    del parachute.environment["PARACHUTE_HOME"]
    file = Path(parachute.environment["HOME"]) / "key"
    file.write_text(made["key"])
    return file


def test_a_laptop_with_its_computer(parachute: Terminal, server: Server) -> None:
    key = key_file(parachute, server)
    folder = Path(parachute.environment["HOME"]) / "Laptop"
    folder.mkdir()
    (folder / "beans.md").write_text("Beans.\n")
    first = ("sync", str(folder), "--with", server.url, "--key-file", str(key))
    plan = json.loads(parachute.ok(*first, "--dry-run", "--json"))
    assert {(step["path"], step["step"]) for step in plan["steps"]} >= {
        ("Notes/peas.md", "download"),
        ("beans.md", "upload"),
    }
    assert not (folder / "Notes").exists()
    parachute.ok(*first, "--once")
    assert (folder / "Notes/peas.md").read_text() == "Sow peas.\n"
    assert (server.vault / "beans.md").read_text() == "Beans.\n"
    # The computer and the key are remembered.
    (folder / "Notes/peas.md").write_text("Sow peas in April.\n")
    (server.vault / "Notes/peas.md").write_text("Sow peas in March.\n")
    large = b"\0" * 3_000_000
    (folder / "large.bin").write_bytes(large)
    report = json.loads(parachute.ok("sync", str(folder), "--once", "--json"))
    assert report["conflicts"] == ["Notes/peas.md"]
    assert report["uploaded"] == ["large.bin"]
    assert (server.vault / "large.bin").read_bytes() == large
    waiting = json.loads(parachute.ok("inbox", "--json", PARACHUTE_HOME=str(server.home.root)))
    items = waiting["items"] if isinstance(waiting, dict) else waiting
    assert [item["details"]["device"] for item in items if item["kind"] == "conflict"] == ["laptop"]
    (server.vault / "large.bin").unlink()
    (server.vault / "other.bin").write_bytes(large)
    report = json.loads(parachute.ok("sync", str(folder), "--once", "--json"))
    assert (report["downloaded"], report["deleted_here"]) == (["other.bin"], ["large.bin"])
    assert (folder / "other.bin").read_bytes() == large


def test_what_is_refused(parachute: Terminal, server: Server) -> None:
    folder = Path(parachute.environment["HOME"]) / "Laptop"
    folder.mkdir()
    (folder.parent / ".config/notes").mkdir(parents=True)
    for arguments in (
        (str(folder.parent / ".config/notes"), "--with", server.url),
        (str(folder.parent), "--with", server.url),
        (str(folder.parent.parent), "--with", server.url),
        (str(server.vault / ".parachute"), "--with", server.url),
        (str(server.vault / "Notes"), "--with", server.url),
        (str(folder),),
        (str(folder), "--with", "http://home.example"),
        (str(folder), "--with", "https://home.example/vault"),
        (str(folder), "--with", server.url),
        (str(server.vault), "--with", server.url),
        (str(folder / "none"), "--with", server.url),
    ):
        parachute.fails("sync", *arguments, "--once")
    key = folder.parent / "wrong"
    key.write_text("para_wrong")
    assert "key" in parachute.fails("sync", str(folder), "--with", server.url, "--key-file", str(key), "--once").lower()


def test_it_follows_changes_on_both_sides(parachute: Terminal, server: Server) -> None:
    key = key_file(parachute, server)
    folder = Path(parachute.environment["HOME"]) / "Laptop"
    folder.mkdir()
    command = ("sync", str(folder), "--with", server.url, "--key-file", str(key))
    with parachute.background(*command) as following:
        wait_until((folder / "Notes/peas.md").exists, "the first files")
        (folder / "beans.md").write_text("Beans.\n")
        wait_until((server.vault / "beans.md").exists, "what changes here")
        assert "synchronised already" in parachute.fails(*command)
        following.send_signal(signal.SIGINT)
        following.wait(30)


@pytest.mark.long
def test_a_laptop_that_is_killed_goes_on(parachute: Terminal, server: Server) -> None:
    key = key_file(parachute, server)
    folder = Path(parachute.environment["HOME"]) / "Laptop"
    folder.mkdir()
    for number in range(60):
        (server.vault / f"Notes/there {number}.bin").write_bytes(bytes([number]) * 200_000)
        (folder / f"here {number}.md").write_text(f"{number}\n")
    command = ("sync", str(folder), "--with", server.url, "--key-file", str(key))

    def count() -> int:
        return len([*folder.glob("Notes/there*"), *server.vault.glob("here*")])

    for more in (1, 3, 20, 40):
        wanted = count() + more
        with parachute.background(*command) as following:
            wait_until(lambda: count() >= wanted, "some files")  # noqa: B023
            following.kill()
            following.wait(30)
    parachute.ok("sync", str(folder), "--once")
    assert len(list(server.vault.glob("*.md"))) >= 60
    for path in [*server.vault.glob("Notes/*"), *server.vault.glob("here*")]:
        assert (folder / path.relative_to(server.vault)).read_bytes() == path.read_bytes()
    assert not list(folder.rglob(".*"))
    assert json.loads(parachute.ok("inbox", "--json", PARACHUTE_HOME=str(server.home.root)))["items"] == []
