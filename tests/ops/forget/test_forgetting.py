"""The proof: a word that came in through every ordinary way is nowhere afterwards, byte by byte and cell by cell."""

import contextlib
import gzip
import json
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from parachute.ops.forget.places import files
from parachute.security.keys.cli_token import CliToken
from tests.chat.imports.exports import node, tree
from tests.flow.official import OfficialComputer
from tests.flow.test_remembering import proposing, remember
from tests.support.computer import Computer
from tests.support.installation import PLAIN
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI

pytestmark = [pytest.mark.timeout(240), pytest.mark.long]
WORD = "Zwiebelkuchen"
_MODULES = ("brain", "daily", "chat", "imports")


class Lived(OfficialComputer):
    """A computer whose owner asks with the command line's token."""

    def as_owner(self, method: str, path: str, body: Any = None) -> httpx2.Response:
        """One request."""
        headers = {"authorization": f"Bearer {CliToken(self.home.root).obtain()}"}
        return httpx2.request(method, f"{self.url}{path}", json=body, headers=headers, timeout=60, **PLAIN)

    def asked_to_forget(self, word: str) -> Any:
        """The plan."""
        return self.as_owner("POST", "/api/forget", {"words": word}).json()


@pytest.fixture
def lived(make_computer: Make[Computer], api: MessagesAPI) -> Lived:
    """A computer on which the word came in through every ordinary way."""
    api.default(proposing)
    computer = make_computer(Lived, meaning={"enabled": True})
    computer.set_up(_MODULES)
    computer.know("person", "Kevin", f"Kevin likes {WORD}.\n\nHe is from Rome.")
    computer.know("topic", WORD, "A cake.")
    made = computer.post("/api/daily/entries", json={"content": f"We ate {WORD} today."}).json()
    entry = {"content": f"We ate {WORD} today, and soup."}
    assert computer.ask("PUT", f"/api/daily/entries/{made['id']}", json=entry).status_code == 200
    computer.post("/api/daily/entries", json={"content": "Rain."})
    computer.say(f"I hate {WORD.upper()}.")
    remember(computer, action="create", target_module="daily", payload={"content": f"{WORD} again."})
    computer.say("Tea?")
    talk = tree(node("a", None), node("b", "a", text=f"Which {WORD}?"), node("c", "b", "assistant", "The red one."))
    (computer.folder / "conversations.json").write_text(json.dumps([talk]))
    computer.output("import", "chatgpt", str(computer.folder / "conversations.json"))
    (computer.folder / "conversations.json").unlink()
    for text in (f"{WORD} one\n", "two\n"):
        written = computer.ask("PUT", "/api/write", json={"path": "written.md", "content": text})
        assert written.status_code == 200, written.text
    (computer.vault / "note.md").write_text(f"# A note\n{WORD} is here.\nTea.\n")
    (computer.vault / "packed.txt.gz").write_bytes(gzip.compress(WORD.encode()))
    (computer.vault / "parachute").mkdir(exist_ok=True)
    (computer.vault / "parachute" / "memory.md").write_text(f"- Ann likes {WORD}.\n- Tea.\n")
    with (computer.home.logs / "core.log").open("a") as log:
        log.write(f"A line with {WORD}.\n")
    computer.output("search", WORD)
    return computer


def test_a_word_is_nowhere_but_in_what_is_left_and_then_nowhere(lived: Lived) -> None:
    computer = lived
    seen = computer.output("forget", WORD, "--dry-run")
    assert "We ate" in seen
    assert computer.value("/api/daily/search?q=" + WORD)["entries"]
    unknown = [file.relative for file in files(computer.home.root, computer.vault) if file.place.kind == "unknown"]
    assert unknown == []
    plan = computer.asked_to_forget(WORD)
    (left,) = [each for each in plan["asked"] if each["passage"].startswith("A boat") or "Which" in each["passage"]]

    report = _forgotten_beside_a_crash(computer, plan, left)

    assert report["found"] == []
    assert {each["kind"] for each in report["left"]} == {"conversations", "databases"}
    assert {each["kind"] for each in report["changed"]} >= {
        "memory",
        "journal",
        "entities",
        "notes",
        "databases",
        "indexes",
        "logs",
    }
    assert [each["id"] for each in computer.value(f"/api/chat?search={WORD}")["sessions"]] == [left["place"]]
    computer.output("audit", "verify")
    # The left conversation is in its transcript, in the list of conversations, and in the indexes that are made anew.
    holding = (left["place"], "/meaning/index.db", "/sessions.db", "/sessions-daily.db")
    assert [trace for trace in _traces(computer) if not any(part in trace for part in holding)] == []
    with contextlib.closing(sqlite3.connect(computer.vault / ".parachute" / "sessions.db")) as database:
        found = database.execute("SELECT DISTINCT session FROM words WHERE body LIKE ?", (f"%{WORD}%",)).fetchall()
    assert found == [(left["place"],)]

    report = json.loads(computer.output("forget", WORD, "--yes", "--json"))

    assert (report["found"], report["left"]) == ([], [])
    computer.output("status")
    for path, query in (
        ("/api/daily/search?q=", "entries"),
        ("/api/chat?search=", "sessions"),
        ("/api/brain/search?q=", "results"),
    ):
        assert computer.value(path + WORD)[query] == [], path
    (entry,) = computer.value("/api/daily/entries")["entries"][:1]
    assert entry["content"] == "Rain."
    assert computer.value("/api/brain/search?q=Rome")["results"]
    computer.output("audit", "verify")
    computer.assert_nothing_failed()
    computer.stop()
    assert list(_traces(computer)) == []
    assert (computer.vault / "note.md").read_text() == "# A note\nTea.\n"
    assert (computer.vault / "parachute" / "memory.md").read_text() == "- Tea.\n"


def _forgotten_beside_a_crash(computer: Lived, plan: Any, left: Any) -> Any:
    """Order everything but one place, kill the server, and return the report of the one that comes after it."""
    choices = {each["id"]: "leave" if each == left else each["choices"][0] for each in plan["asked"]}
    body = {"plan": plan["id"], "hash": plan["hash"], "choices": choices}
    assert computer.as_owner("POST", "/api/forget/apply", body).status_code == 202
    computer.kill_core()

    def ended() -> Any:
        with contextlib.suppress(httpx2.TransportError):
            found = computer.as_owner("GET", "/api/forget").json()
            return not found["is_under_way"] and found["last"]
        return None

    return computer.wait_until(ended, "the words are forgotten")


def _traces(computer: Lived) -> Iterator[str]:
    """Look for the word without any code of ours: in names, bytes, packed bytes, and every cell of every database."""
    for root in (computer.home.root, computer.vault):
        for path in root.rglob("*"):
            if _has(path.name):
                yield f"name {path}"
            if path.is_file() and not path.is_symlink():
                data = path.read_bytes()
                if _has(data) or any(map(_has, _unpacked(data))):
                    yield f"bytes {path}"
                if data.startswith(b"SQLite format 3"):
                    yield from (f"{path} {each}" for each in _cells(path))


def _cells(path: Path) -> Iterator[str]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.create_function("searchable", 1, lambda text: text)
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            with contextlib.suppress(sqlite3.OperationalError):  # one that shows the rows of another
                for row in connection.execute(f'SELECT * FROM "{table}"'):
                    for cell in row:
                        if isinstance(cell, str | bytes) and (_has(cell) or any(map(_has, _unpacked(cell)))):
                            yield f"{table} {row!r}"[:300]


def _has(data: str | bytes) -> bool:
    text = data if isinstance(data, str) else data.decode(errors="replace")
    return WORD.lower() in text.lower()


def _unpacked(data: Any) -> Iterator[bytes]:
    for start in (0, 1):
        with contextlib.suppress(zlib.error, TypeError):
            yield zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(data[start:])
