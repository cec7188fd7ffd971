"""Processes that an agent leaves running in its sandbox: none asks a model on its own once its turn is over (S16)."""

import asyncio
from pathlib import Path

import httpx2
import pytest

from parachute.llm.gateway.endpoint import SOCKET_NAME
from tests.chat.runs.answers import answered
from tests.conftest import needs_bubblewrap
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text
from tests.support.waiting import SECONDS as DEADLINE

pytestmark = pytest.mark.long

_QUESTION = {"model": "claude-opus-4-1", "max_tokens": 5, "messages": [{"role": "user", "content": "Hello?"}]}


def tokens() -> set[str]:
    """Return the tokens that agents' programs on this machine show to their model endpoints, as whoever is in a sandbox can read it."""
    found = set()
    for file in Path("/proc").glob("[0-9]*/environ"):
        try:
            variables = file.read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended, or belongs to somebody else
        found |= {line.partition(b"=")[2].decode() for line in variables if line.startswith(b"ANTHROPIC_API_KEY=")}
    return found


@needs_bubblewrap
async def test_the_token_of_a_session_opens_nothing_after_its_turn(computer: Computer, api: MessagesAPI) -> None:
    api.default(text("Hi."))
    async with computer.client() as client:
        session = (await answered(client, "Hello")).terminal["sessionId"]
        async with asyncio.timeout(DEADLINE):
            while (await client.get(f"/api/chat/{session}/stream-status")).json()["active"]:
                pass  # the last event is read before the run has ended
    endpoint = computer.home.run / "sandbox" / session / "box" / SOCKET_NAME
    asked, statuses = len(api.requests), []
    transport = httpx2.AsyncHTTPTransport(uds=str(endpoint))
    async with httpx2.AsyncClient(transport=transport, base_url="http://model") as agent:
        for token in tokens():
            answer = await agent.post("/v1/messages", headers={"x-api-key": token}, json=_QUESTION)
            statuses.append(answer.status_code)
    # 401 for those of other computers that run here; 403 is said to the session's own.
    assert statuses.count(403) == 1
    assert set(statuses) <= {401, 403}
    assert len(api.requests) == asked
