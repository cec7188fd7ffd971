"""`parachute files`, as a person types it, against a computer."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.making import Make
from tests.support.server import Server
from tests.support.terminal import Terminal


@pytest.fixture
def server(make_server: Make[Server]) -> Server:
    """A server for one test: numbers of changes count from its beginning."""
    return make_server()


@pytest.fixture
def parachute(parachute: Terminal, server: Server) -> Terminal:
    """The command of that computer's owner."""
    parachute.environment["PARACHUTE_HOME"] = str(server.home.root)
    return parachute


def here(parachute: Terminal) -> Path:
    """The folder in which commands are typed."""
    return Path(parachute.environment["HOME"])


def said(parachute: Terminal, *arguments: str, **options: Any) -> Any:
    """The JSON that a command prints."""
    return json.loads(parachute.ok("files", *arguments, "--json", **options))


def test_a_note_through_its_life(parachute: Terminal, server: Server, snapshot: SnapshotAssertion) -> None:
    note = server.vault / "Notes/peas.md"
    parachute.ok("files", "write", "Notes/peas.md", stdin="Sow peas.\n\x1b[31m")
    parachute.ok("files", "show", "Notes/peas.md")
    parachute.ok("files", "write", "Notes/peas.md", stdin="Sow peas.\n\x1b[31m")
    etag = said(parachute, "show", "Notes/peas.md")["etag"]
    parachute.ok("files", "write", "Notes/peas.md", "--text", "Beans.", "--if-match", etag)
    parachute.fails("files", "write", "Notes/peas.md", "--text", "x", "--if-match", etag)
    parachute.fails("files", "write", "Notes/peas.md", "--text", "x", "--new")
    assert note.read_text() == "Beans."
    listed = parachute.ok("files", "list", "Notes").splitlines()
    assert [line.split()[:3] for line in listed] == [["Name", "Kind", "Size"], ["peas.md", "6", "bytes"]]
    parachute.ok("files", "move", "Notes/peas.md", "Notes/old/beans.md")
    parachute.ok("files", "delete", "Notes/old")
    assert list((server.vault / "Notes").iterdir()) == []
    shown = parachute.ok("files", "changes", "Notes/old")
    assert shown.index("created  Notes/old/beans.md") < shown.index("deleted  Notes/old/beans.md")
    parachute.ok("files", "undo")
    assert (server.vault / "Notes/old/beans.md").read_text() == "Beans."
    (server.vault / "Notes/old/beans.md").write_text("Of an editor.")
    moved = [each for each in said(parachute, "changes")["changes"] if each["total"] > 1][-1]
    undone = parachute("files", "undo", str(moved["change"]))
    assert undone.code == 1
    assert parachute.screens == snapshot


def test_files_of_any_kind_are_copied_in_and_out(
    parachute: Terminal, server: Server, snapshot: SnapshotAssertion
) -> None:
    folder = here(parachute)
    data = os.urandom(1_000_000)
    (folder / "seeds.bin").write_bytes(data)
    parachute.ok("files", "make-folder", "Garden/new")
    parachute.ok("files", "upload", "seeds.bin", "Garden/new/")
    assert (server.vault / "Garden/new/seeds.bin").read_bytes() == data
    parachute.fails("files", "upload", "seeds.bin", "Garden/new/seeds.bin", "--new")
    assert said(parachute, "download", "Garden/new/seeds.bin", "copy.bin")["to"] == "copy.bin"
    assert (folder / "copy.bin").read_bytes() == data
    parachute.fails("files", "download", "Garden/new/seeds.bin")
    parachute.fails("files", "download", "Garden/new/seeds.bin", "away/x")
    parachute.ok("files", "write", "Garden/plain.txt", "--text", "ä")
    parachute.ok("files", "download", "Garden/plain.txt", "-")
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == [".parachute"] * (
        (folder / ".parachute").exists()
    )
    assert parachute.screens == snapshot


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("show", "Notes/nothing.md"), "does not exist"),
        (("show", ".mcp.json"), "is hidden"),
        (("list", "../"), "does not stay below"),
        (("write", ".env", "--text", "x"), "secrets"),
        (("upload", "nothing", "x"), "cannot be read"),
        (("undo", "99999"), "is unknown"),
        (("delete", "nothing"), "does not exist"),
    ],
)
def test_what_cannot_be_is_a_sentence(parachute: Terminal, arguments: tuple[str, ...], sentence: str) -> None:
    assert sentence in parachute.fails("files", *arguments)


def test_texts_are_found_by_their_words(parachute: Terminal, server: Server, snapshot: SnapshotAssertion) -> None:
    parachute.ok("files", "write", "Trips/lisbon.md", "--text", "The tram climbs the hill to the castle.")
    (found,) = said(parachute, "search", "castle", "tram")["results"]
    assert (found["path"], found["name"], found["found_by"]) == ("Trips/lisbon.md", "lisbon.md", "words")
    assert found["line"] == 1
    assert "climbs the hill" in found["snippet"]
    parachute.ok("files", "search", "castle")
    parachute("files", "search", "zeppelin")
    parachute.ok("files", "delete", "Trips/lisbon.md")
    assert said(parachute, "search", "castle")["results"] == []
    assert parachute.screens == snapshot


def test_a_page_of_this_machine_is_not_saved(parachute: Terminal, server: Server) -> None:
    for address in ("http://127.0.0.1:3333/api/ls", "notes.txt"):
        parachute.fails("save", address)
    assert not (server.vault / "Inbox").exists()
