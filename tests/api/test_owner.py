"""Only the owner may have an agent run with the owner's rights."""

import json
import os
import subprocess
import sys

import pytest

from tests.runs.answers import answered
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text

# Everything is imported before the change of user: afterwards our interpreter's files may be out of reach.
_STRANGER = """
import encodings.idna, encodings.latin_1, http.client, os, sys
host, path, method, body = sys.argv[1:]
os.setuid(65534)
connection = http.client.HTTPConnection(host, timeout=30)
connection.request(method, path, body.encode(), {"content-type": "application/json"})
answer = connection.getresponse()
print(answer.status, answer.read().decode())
"""


def _as_stranger(computer: Computer, path: str, method: str, body: str) -> str:
    command = [sys.executable, "-c", _STRANGER, f"127.0.0.1:{computer.port}", path, method, body]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
async def test_another_user_of_this_machine_chats_but_never_directly(computer: Computer, api: MessagesAPI) -> None:
    api.default(text("Hello."))
    async with computer.client() as client:
        stream = await answered(client, "Mine", trustLevel="direct")
        session = stream.terminal["sessionId"]
        assert (await client.get(f"/api/chat/{session}")).json()["effectiveExecutionMode"] == "direct"
        casual = (await answered(client, "Casual")).terminal["sessionId"]
    chat = "/api/chat"
    assert _as_stranger(computer, chat, "POST", '{"message": "hi"}').startswith("200")
    for path, method, body in (
        (chat, "POST", '{"message": "hi", "trustLevel": "direct"}'),
        (chat, "POST", '{"message": "hi", "trustLevel": "full"}'),
        (chat, "POST", f'{{"message": "hi", "sessionId": "{session}"}}'),
        (f"{chat}/{casual}/config", "PATCH", '{"trustLevel": "direct"}'),
        (f"{chat}/{casual}/activate", "POST", '{"trustLevel": "direct"}'),
        (f"{chat}/{session}/inject", "POST", '{"message": "hi"}'),
    ):
        assert _as_stranger(computer, path, method, body).startswith("403"), (path, body)


async def test_a_key_without_admin_rights_never_chats_directly(computer: Computer, api: MessagesAPI) -> None:
    api.default(text("Hello."))
    environment = {"PATH": os.environ["PATH"], "HOME": str(computer.folder), "PARACHUTE_HOME": str(computer.home.root)}
    command = [sys.executable, "-m", "parachute.cli", "keys", "create", "phone", "--scope", "chat:read,write", "--json"]
    made = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=30)
    key = json.loads(made.stdout)["key"]
    async with computer.client(headers={"X-API-Key": key}) as client:
        assert (await answered(client, "Casual")).terminal["type"] == "done"
        refused = await client.post("/api/chat", json={"message": "hi", "trustLevel": "direct"})
        assert refused.status_code == 403
        assert "admin" in refused.json()["detail"]
