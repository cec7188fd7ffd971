"""Only the owner may have an agent run with the owner's rights."""

from secrets import token_hex
from typing import Any

import pytest

from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from tests.chat.runs.answers import answered
from tests.support.another_user import asked, needs_root
from tests.support.computer import Computer

pytestmark = pytest.mark.long


@needs_root
async def test_another_user_of_this_machine_chats_with_a_key_and_never_directly(
    installation: Computer,
) -> None:
    async with installation.client() as client:
        stream = await answered(client, "Mine", trustLevel="direct")
        session = stream.terminal["sessionId"]
        assert (await client.get(f"/api/chat/{session}")).json()["effectiveExecutionMode"] == "direct"
        casual = (await answered(client, "Casual")).terminal["sessionId"]
    chat = "/api/chat"
    _, secret = Keys(installation.home.root).create(f"neighbour {token_hex(4)}", [Scope.parse("chat:read,write")])
    key: dict[str, Any] = {"x-api-key": secret}
    [(status, _)] = asked("127.0.0.1", installation.port, ("POST", chat), body='{"message": "hi"}', **key)
    assert status == 200
    for path, method, body in (
        (chat, "POST", '{"message": "hi", "trustLevel": "direct"}'),
        (chat, "POST", '{"message": "hi", "trustLevel": "full"}'),
        (chat, "POST", f'{{"message": "hi", "sessionId": "{session}"}}'),
        (f"{chat}/{casual}/config", "PATCH", '{"trustLevel": "direct"}'),
        (f"{chat}/{casual}/activate", "POST", '{"trustLevel": "direct"}'),
        (f"{chat}/{session}/inject", "POST", '{"message": "hi"}'),
    ):
        [(status, _)] = asked("127.0.0.1", installation.port, (method, path), body=body, **key)
        assert status == 403, (path, body)


async def test_a_key_without_admin_rights_never_chats_directly(installation: Computer) -> None:
    _, key = Keys(installation.home.root).create(f"phone {token_hex(4)}", [Scope.parse("chat:read,write")])
    async with installation.client(headers={"X-API-Key": key}) as client:
        assert (await answered(client, "Casual")).terminal["type"] == "done"
        refused = await client.post("/api/chat", json={"message": "hi", "trustLevel": "direct"})
        assert refused.status_code == 403
        assert "admin" in refused.json()["detail"]
