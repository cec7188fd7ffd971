"""The records of a computer that was lived on: whatever words of them are forgotten, they can be read afterwards, or the words are refused."""

import asyncio
import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, Phase, assume, example, given, settings
from hypothesis import strategies as st

from parachute.base.errors import InvalidInput
from parachute.ops.forget import ordering
from parachute.ops.forget.models import Order
from parachute.ops.forget.recognizing import check_not_ours
from parachute.ops.forget.words import Words
from parachute.security.keys.cli_token import CliToken
from tests.support.installation import PLAIN
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, text
from tests.support.server import Server
from tests.support.sse import chat

pytestmark = pytest.mark.long
_PIECE = re.compile(r"[\w.:+-]{3,40}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d[\d:.]*(?:Z|\+00:00)?")
_ID = re.compile(r"[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}")
MESSAGE = """Aunt\tante Emma has the number 4917012345678, which is {"number": 4917012345678, "name": "a\\nante"}."""
_SLOW = ("/api/provider/models", "/api/modules/official", "/api/config")
_many = settings(max_examples=100, deadline=None, derandomize=True, database=None)
_few = settings(_many, max_examples=5, phases=[Phase.generate], suppress_health_check=list(HealthCheck))


@pytest.fixture
async def server(make_server: Make[Server], api: MessagesAPI) -> Server:
    """A server with a conversation, a key, an agent, lines that are remembered, a hook, and files that were changed."""
    api.default(text("Emma says hello."))
    server = make_server()
    agents = server.vault / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "emma.md").write_text("---\nname: emma\ndescription: Knows Aunt Emma.\n---\nBe kind.\n")
    headers = {"authorization": f"Bearer {CliToken(server.home.root).obtain()}"}
    async with server.client(headers=headers) as client:
        async with chat(client, MESSAGE, "new") as stream:
            await stream.collect()
        session = str(stream.terminal["sessionId"])
        for method, path, body in (
            ("POST", "/api/memory", {"session_id": session, "lines": ["Emma likes soup."]}),
            ("POST", "/api/auth/keys", {"label": "Phone of Emma"}),
            ("PUT", "/api/write", {"path": "soup.md", "content": "Soup for Emma.\n"}),
            ("PUT", "/api/write", {"path": "soup.md", "content": "More soup for Emma.\n"}),
        ):
            answer = await client.request(method, path, json=body)
            assert answer.status_code == 200, f"{path}: {answer.text}"
    return server


def test_whatever_is_forgotten_the_records_parse(server: Server) -> None:
    server.stop()
    records = list(_records(server))
    pieces = sorted({piece for record in records for piece in _PIECE.findall(record)})
    assert len(pieces) > 300
    some = st.lists(st.sampled_from(pieces), min_size=1, max_size=2).map(" ".join)
    near = st.sampled_from(sorted({piece for record in records for piece in _near(record)}))
    tried = 0

    @_many
    @given(typed=some | near)
    @example(typed="4917012345678")
    @example(typed="tante")
    @example(typed="nante")
    def attempt(typed: str) -> None:
        nonlocal tried
        words = _allowed(server, typed)
        if words is None:
            return
        for record in records:
            blank = words.blanked(record.encode(errors="surrogateescape")).decode(errors="surrogateescape")
            if blank != record:
                tried += 1
                assert _shape(blank) == _shape(record), typed
                for whole in (_MOMENT, _ID):
                    assert len(whole.findall(blank)) == len(whole.findall(record)), typed

    attempt()
    assert tried


def test_whatever_is_forgotten_the_computer_starts_and_answers(server: Server, tmp_path: Path) -> None:
    paths = [path for path, methods in _document(server)["paths"].items() if "get" in methods and "{" not in path]
    asked = [path for path in paths if not path.endswith("/events") and path not in _SLOW]
    before = {path: _status(server, path) for path in asked}
    server.stop()
    pieces = sorted({piece for record in _records(server) for piece in _PIECE.findall(record)})
    places = {server.home.root: tmp_path / "home", server.vault: tmp_path / "vault"}
    for place, copy in places.items():
        shutil.copytree(
            place, copy, symlinks=True, ignore=lambda folder, names: [each for each in names if each.endswith(".sock")]
        )

    @_few
    @given(typed=st.sampled_from(["Emma", "4917012345678"]) | st.sampled_from(pieces))
    def attempt(typed: str) -> None:
        assume(_allowed(server, typed))
        for place, copy in places.items():
            shutil.rmtree(place)
            shutil.copytree(copy, place, symlinks=True)
        ordering.write_order(server.home.root, Order(typed, "me", "files", [], [], {}, [], []))
        server.start()
        try:
            assert ordering.read_order(server.home.root) is None
            asyncio.run(_says(server))
            after = {path: _status(server, path) for path in asked}
        finally:
            server.stop()
        assert after == before, typed

    attempt()
    assert "Traceback" not in server.logs()


async def _says(server: Server) -> None:
    """Go on with the conversation, or with a new one if it was removed."""
    async with server.client(headers=_headers(server)) as client:
        (found,) = (await client.get("/api/chat")).json()["sessions"]
        async with chat(client, "Is it late?", found["id"]) as stream:
            await stream.collect()
    assert stream.terminal["type"] == "done", stream.terminal


def _allowed(server: Server, typed: str) -> Words | None:
    try:
        words = Words(typed)
        check_not_ours(words.text, [server.vault / ".modules"])
    except InvalidInput:
        return None
    return words


def _records(server: Server) -> Any:
    """Every line, file and cell."""
    for root in (server.home.root, server.vault / ".parachute"):
        for path in (each for each in root.rglob("*") if each.is_file() and not each.is_symlink()):
            data = path.read_bytes()
            if data.startswith(b"SQLite format 3"):
                with closing(sqlite3.connect(path)) as database:
                    database.create_function("searchable", 1, lambda text: text)
                    for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                        for row in database.execute(f'SELECT * FROM "{table}"'):
                            yield from (cell for cell in row if isinstance(cell, str))
            elif b"\0" not in data:
                found = data.decode(errors="surrogateescape")
                yield from (found, *found.splitlines())


def _near(record: str) -> list[str]:
    """Pieces that begin at an escape, in a number or in an id, where a mistake would break a record."""
    return [*re.findall(r"(?<=\\)[nrtbf]\w{3,9}", record), *re.findall(r"(?<=-)[\da-f]{4}(?=-)|\d\dT\d\d", record)]


def _shape(record: str) -> Any:
    """The record without its texts, also of JSON in a text."""
    try:
        return _bare(json.loads(record))
    except (ValueError, RecursionError):
        return None


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted(map(str, map(_bare, value.values())))
    if isinstance(value, list):
        return [_bare(each) for each in value]
    return _shape(value) is not None if isinstance(value, str) else value


def _document(server: Server) -> Any:
    return httpx2.get(f"{server.url}/openapi.json", headers=_headers(server), **PLAIN).json()


def _status(server: Server, path: str) -> int:
    return httpx2.get(f"{server.url}{path}", headers=_headers(server), timeout=60, **PLAIN).status_code


def _headers(server: Server) -> dict[str, str]:
    return {"authorization": f"Bearer {CliToken(server.home.root).obtain()}"}
