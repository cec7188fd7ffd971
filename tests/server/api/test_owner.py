"""Only the owner may have an agent run with the owner's rights."""

import json
import os
import subprocess
import sys

from parachute.keys.models import Scope
from parachute.keys.service import Keys
from tests.runs.answers import answered
from tests.support.another_user import asked, needs_root
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text


@needs_root
async def test_another_user_of_this_machine_chats_with_a_key_and_never_directly(
    computer: Computer, api: MessagesAPI
) -> None:
    api.default(text("Hello."))
    async with computer.client() as client:
        stream = await answered(client, "Mine", trustLevel="direct")
        session = stream.terminal["sessionId"]
        assert (await client.get(f"/api/chat/{session}")).json()["effectiveExecutionMode"] == "direct"
        casual = (await answered(client, "Casual")).terminal["sessionId"]
    chat = "/api/chat"
    _, secret = Keys(computer.home.root).create("neighbour", [Scope.parse("chat:read,write")])
    key = {"x-api-key": secret}
    [(status, _)] = asked("127.0.0.1", computer.port, ("POST", chat), body='{"message": "hi"}', **key)
    assert status == 200
    for path, method, body in (
        (chat, "POST", '{"message": "hi", "trustLevel": "direct"}'),
        (chat, "POST", '{"message": "hi", "trustLevel": "full"}'),
        (chat, "POST", f'{{"message": "hi", "sessionId": "{session}"}}'),
        (f"{chat}/{casual}/config", "PATCH", '{"trustLevel": "direct"}'),
        (f"{chat}/{casual}/activate", "POST", '{"trustLevel": "direct"}'),
        (f"{chat}/{session}/inject", "POST", '{"message": "hi"}'),
    ):
        [(status, _)] = asked("127.0.0.1", computer.port, (method, path), body=body, **key)
        assert status == 403, (path, body)


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
