"""A16: a key that is guessed, or goes on after it was revoked."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex

import httpx2
import pytest

from parachute.security.keys.service import Keys
from tests.support.computer import Computer
from tests.support.gate import Gate
from tests.support.installation import PLAIN
from tests.support.messages_api import MessagesAPI, hold, several, text
from tests.support.server import Server

_MORE = re.compile(r"\((\d+) more\)")


async def test_the_stream_of_a_revoked_key_ends(computer: Computer, api: MessagesAPI) -> None:
    gate = Gate()
    api.script(several(text("first "), hold(gate, text("second"))))
    keys = Keys(computer.home.root)
    made, secret = keys.create(f"phone {token_hex(4)}")
    async with computer.client(headers={"x-api-key": secret}) as client:
        seen = ""
        async with client.stream("POST", "/api/chat", json={"message": "Hello"}) as response:
            assert response.status_code == 200
            async for part in response.aiter_text():
                seen += part
                if "first" in seen and not gate.is_open:
                    keys.revoke(made.id)
                    gate.open()
    assert gate.is_open, "the answer had begun"
    assert "second" not in seen
    assert '"done"' not in seen
    async with computer.client() as owner:
        session = (await owner.get("/api/chat?limit=1")).json()["sessions"][0]["id"]
        assert "second" in (await owner.get(f"/api/chat/{session}/events")).text, "the run went on"


@pytest.fixture
def server() -> Iterator[Server]:
    """A server of its own: to the record of a shared one, others add the keys that they were refused with."""
    with Server() as running:
        yield running


def test_wrong_keys_are_recorded_and_do_not_fill_the_record(server: Server) -> None:
    with httpx2.Client(base_url=server.url, timeout=60, **PLAIN) as client:
        for number in range(50):
            assert client.get("/api/chat", headers={"x-api-key": f"para_{number}"}).status_code == 401
    server.stop()  # which writes what was only counted
    lines = [json.loads(line) for line in _audit(server.vault).splitlines()]
    refused = [line["target_endpoint"] for line in lines if line["event_type"] == "refused_key"]
    assert refused[0] == "from 127.0.0.1"
    # A minute ends when it ends: of each, one key is written at once and the others as their number.
    more = [int(found[1]) if (found := _MORE.search(each)) else 1 for each in refused]
    assert sum(more) == 50
    assert len(refused) < 10


def _audit(vault: Path) -> str:
    return "".join(path.read_text() for path in sorted((vault / ".parachute" / "audit").glob("*.jsonl")))
