"""Search for a credential, and its place in a request."""

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.llm.gateway.credentials import CredentialSource
from parachute.llm.gateway.models import CredentialKind
from tests.support.messages_api import EXPIRED, MessagesAPI, error, text

from .conftest import KEY, TOKEN, Installation, agent, question


def login(token: str = TOKEN, seconds: float = 3600) -> str:
    return json.dumps({"claudeAiOauth": {"accessToken": token, "expiresAt": int((time.time() + seconds) * 1000)}})


@pytest.fixture
def home(folder: Path) -> Home:
    home = Home(folder / ".parachute")
    home.root.mkdir(mode=0o700)
    (folder / ".claude").mkdir()
    return home


def found(home: Home, **environment: str) -> Any:
    return CredentialSource(home, environment, home.root.parent / ".claude").find()


def test_the_order(home: Home) -> None:
    assert found(home) is None
    (home.root.parent / ".claude" / ".credentials.json").write_text(login())
    assert found(home).source.endswith("/.claude/.credentials.json")
    home.credentials.write_text('{"oauth_token": "own"}')
    assert (found(home).secret, found(home).kind) == ("own", CredentialKind.OAUTH)
    home.credentials.write_text('{"api_key": "own\\n"}')
    assert (found(home).secret, found(home).kind) == ("own", CredentialKind.API_KEY)
    assert found(home, ANTHROPIC_AUTH_TOKEN="a").source == "ANTHROPIC_AUTH_TOKEN"
    assert found(home, ANTHROPIC_AUTH_TOKEN="a", CLAUDE_CODE_OAUTH_TOKEN="b").secret == "b"
    assert found(home, ANTHROPIC_API_KEY="k", CLAUDE_CODE_OAUTH_TOKEN="b").secret == "k"


def test_a_secret_is_not_in_the_text_of_a_credential(home: Home) -> None:
    assert "the-real-one" not in repr(found(home, ANTHROPIC_API_KEY=KEY))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"1",
        b"\xff\xfe",
        b"[" * 60_000,
        b'{"api_key": ""}',
        b'{"api_key": 3}',
        b'{"api_key": "a\\nb"}',
        b'{"api_key": "\xc3\xa4"}',
        b'{"oauth_token": null}',
        b'{"claudeAiOauth": []}',
        b'{"claudeAiOauth": {}}',
        b'{"claudeAiOauth": {"accessToken": "x", "expiresAt": "soon"}}',
        b" " * 70_000,
    ],
    ids=lambda content: repr(content[:24]),
)
def test_a_file_that_cannot_be_read_is_an_error_and_not_another_mind(home: Home, content: bytes) -> None:
    for path in (home.credentials, home.root.parent / ".claude" / ".credentials.json"):
        path.write_bytes(content)
        with pytest.raises(ParachuteError) as caught:
            found(home)
        assert caught.value.key == "credentials_unreadable"
        assert str(path) in str(caught.value)
        path.unlink()


def test_a_login_file_without_a_login(home: Home) -> None:
    (home.root.parent / ".claude" / ".credentials.json").write_text('{"mcpOAuth": {}}')
    assert found(home) is None


@pytest.fixture
async def signed_in(folder: Path, api: MessagesAPI) -> AsyncIterator[Installation]:
    """An installation that uses the file of `claude login`."""
    made = Installation(folder, {}, {"provider": "anthropic", "base_url": api.url})
    (made.claude / ".credentials.json").write_text(login())
    await made.open()
    yield made
    await made.close()


async def test_a_token_goes_as_bearer_with_its_mark(signed_in: Installation, api: MessagesAPI) -> None:
    api.require(bearer=TOKEN)
    api.script(text("Yes."), text("Yes."))
    endpoint = await signed_in.gateway.open("one")
    assert endpoint.kind is CredentialKind.OAUTH
    assert endpoint.environment()["CLAUDE_CODE_OAUTH_TOKEN"].startswith("sk-ant-oat01-")
    async with agent(endpoint) as client:
        for beta in ("oauth-2025-04-20,other-1", "other-1"):
            response = await client.post("/v1/messages", json=question(), headers={"anthropic-beta": beta})
            assert response.status_code == 200
    for request in api.requests:
        assert request.headers["authorization"] == f"Bearer {TOKEN}"
        assert "x-api-key" not in request.headers
        assert sorted(request.headers["anthropic-beta"].split(",")) == ["oauth-2025-04-20", "other-1"]


async def test_a_file_that_was_renewed_is_read_again_on_401(signed_in: Installation, api: MessagesAPI) -> None:
    path = signed_in.claude / ".credentials.json"

    def renew(body: dict[str, Any]) -> Any:
        path.write_text(login("sk-ant-oat01-newer"))
        return error(401, "authentication_error", EXPIRED)

    api.script(renew, text("Welcome back."))
    endpoint = await signed_in.gateway.open("one")
    async with agent(endpoint) as client:
        response = await client.post("/v1/messages", json=question())
    assert response.status_code == 200
    assert "Welcome back." in response.text
    assert [request.headers["authorization"] for request in api.requests] == [
        f"Bearer {TOKEN}",
        "Bearer sk-ant-oat01-newer",
    ]
    assert endpoint.problem is None


async def test_a_token_that_stays_refused_is_tried_once(signed_in: Installation, api: MessagesAPI) -> None:
    api.require(bearer="another")
    endpoint = await signed_in.gateway.open("one")
    async with agent(endpoint) as client:
        assert (await client.post("/v1/messages", json=question())).status_code == 401
    assert len(api.requests) == 1
    assert endpoint.problem is not None
    assert endpoint.problem.code == "invalid_credentials"


async def test_an_expired_login_is_said_without_calling(signed_in: Installation, api: MessagesAPI) -> None:
    (signed_in.claude / ".credentials.json").write_text(login(seconds=-10))
    endpoint = await signed_in.gateway.open("one")
    async with agent(endpoint) as client:
        response = await client.post("/v1/messages", json=question())
    assert response.status_code == 401
    assert "claude login" in response.json()["error"]["message"]
    assert endpoint.problem is not None
    assert endpoint.problem.code == "expired_token"
    assert api.requests == []
    status = await signed_in.gateway.status()
    assert status.credential is not None
    assert status.credential.expired is True
    assert status.provider == "anthropic"


async def test_a_kind_that_changes_while_the_endpoint_is_open(signed_in: Installation, api: MessagesAPI) -> None:
    api.default(text("Yes."))
    endpoint = await signed_in.gateway.open("one")
    signed_in.home.credentials.write_text(json.dumps({"api_key": KEY}))
    async with agent(endpoint) as client:
        await client.post("/v1/messages", json=question(), headers={"anthropic-beta": "oauth-2025-04-20"})
    (request,) = api.requests
    assert request.headers["x-api-key"] == KEY
    assert not {"authorization", "anthropic-beta"} & request.headers.keys()
