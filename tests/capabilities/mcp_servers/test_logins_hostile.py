"""Servers that ask for what is not theirs when one signs in: nothing is sent, and no login is kept."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from parachute.base.errors import ParachuteError
from parachute.capabilities.mcp_servers.logins.service import Callback
from tests.capabilities.mcp_servers.hostile_server import Asked, HostileServer, harmless, hostile_server
from tests.capabilities.mcp_servers.remote_servers import RemoteServers, remote_servers
from tests.support.errors import raises

pytestmark = pytest.mark.process

DESCRIPTION = "/.well-known/oauth-protected-resource/mcp"
METADATA = "/.well-known/oauth-authorization-server"


@pytest.fixture
async def servers(tmp_path: Path) -> AsyncIterator[RemoteServers]:
    """The servers of an installation."""
    async with remote_servers(tmp_path) as made:
        yield made


class Authority:
    """Server's metadata for signing in, valid except for a test's changes."""

    def __init__(self) -> None:
        self.server: HostileServer | None = None
        self.challenge: Callable[[str], str] = lambda origin: "Bearer"
        self.description: dict[str, Any] = {}
        self.metadata: dict[str, Any] = {}
        self.token: dict[str, Any] = {}
        self.token_status = 200
        self.forms: list[dict[str, list[str]]] = []

    async def answer(self, asked: Asked) -> None:
        """Answer a request."""
        assert self.server is not None
        origin = self.server.origin
        if asked.path == DESCRIPTION:
            await asked.json({"resource": f"{origin}/mcp", "authorization_servers": [origin], **self.description})
        elif asked.path == METADATA:
            sound = {
                "issuer": origin,
                "authorization_endpoint": f"{origin}/authorize",
                "token_endpoint": f"{origin}/token",
                "registration_endpoint": f"{origin}/register",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
            }
            await asked.json({**sound, **self.metadata})
        elif asked.path == "/register":
            await asked.json({"client_id": "us", "redirect_uris": ["http://127.0.0.1:3333/"]}, 201)
        elif asked.path == "/token":
            await asked.json(
                {
                    "access_token": "a-token",
                    "token_type": "Bearer",
                    "expires_in": 1,
                    "refresh_token": "r",
                    **self.token,
                },
                self.token_status,
            )
        elif asked.path == "/mcp" and asked.headers.get("authorization") != "Bearer a-token":
            await asked.say(401, www_authenticate=self.challenge(origin))
        else:
            await harmless(asked)


@pytest.fixture
async def authority(servers: RemoteServers) -> AsyncIterator[Authority]:
    """A server at which one signs in, as `notes`."""
    made = Authority()
    async with hostile_server(made.answer) as made.server:
        servers.put("notes", made.server.url)
        yield made


async def refused(servers: RemoteServers) -> str:
    """The key with which signing in is refused."""
    with pytest.raises(ParachuteError) as error:
        await asyncio.wait_for(servers.service.begin_login_here("notes"), 60)
    assert servers.service.remote.logins.link("notes") is None
    assert len(str(error.value)) < 1000
    return error.value.key


async def test_the_server_of_these_tests_is_sound_else(servers: RemoteServers, authority: Authority) -> None:
    pending = await servers.service.begin_login_here("notes")
    await servers.service.remote.logins.finish(Callback(pending.state, "code"))
    assert await servers.service.call("notes", "act", {}) == "done"


async def test_a_description_of_somebody_else(servers: RemoteServers, authority: Authority) -> None:
    for description, key in (
        ({"resource": "https://bank.example.org/mcp"}, "wrong_resource"),
        ({"resource": "http://127.0.0.1:1/mcp"}, "wrong_resource"),
        ({"authorization_servers": ["https://login.example.org"]}, "host_not_allowed"),
        ({"authorization_servers": ["http://169.254.169.254/"]}, "address_unusable"),
        ({"authorization_servers": ["http://192.168.1.1/"]}, "host_not_allowed"),
        ({"authorization_servers": ["http://login.example.org/"]}, "address_unusable"),
    ):
        authority.description = description
        assert await refused(servers) == key


async def test_a_host_that_nobody_can_allow_is_not_offered(servers: RemoteServers, authority: Authority) -> None:
    for address, can_be_allowed in (("http://192.168.1.1/", True), ("http://localhost:1/", False)):
        authority.description = {"authorization_servers": [address]}
        with pytest.raises(ParachuteError) as error:
            await servers.service.begin_login_here("notes")
        assert (error.value.key, "--host" in (error.value.hint or "")) == ("host_not_allowed", can_be_allowed)


async def test_metadata_of_somebody_else(servers: RemoteServers, authority: Authority) -> None:
    for metadata, key in (
        ({"issuer": "https://login.example.org"}, "wrong_issuer"),
        ({"token_endpoint": "https://evil.example.org/token"}, "host_not_allowed"),
        ({"token_endpoint": "http://127.0.0.1:1/token"}, "host_not_allowed"),
        ({"registration_endpoint": "https://evil.example.org/register"}, "host_not_allowed"),
        ({"authorization_endpoint": "http://evil.example.org/"}, "address_unusable"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "no_metadata"),
        ({"code_challenge_methods_supported": ["plain"]}, "no_pkce"),
        ({"code_challenge_methods_supported": None}, "no_pkce"),
        ({"registration_endpoint": None}, "no_registration"),
        ({"more": "x" * 1_000_000}, "answer_too_large"),
        ({"issuer": 7}, "no_metadata"),
    ):
        authority.metadata = metadata
        assert await refused(servers) == key


async def test_a_description_on_another_host(servers: RemoteServers, authority: Authority) -> None:
    async with hostile_server(harmless) as other:
        authority.challenge = lambda origin: f'Bearer resource_metadata="{other.origin}{DESCRIPTION}"'
        assert await refused(servers) == "described_elsewhere"
        assert other.asked == []


async def test_a_host_that_the_owner_allows(servers: RemoteServers, authority: Authority) -> None:
    assert authority.server is not None
    with pytest.raises(ParachuteError):
        await servers.service.begin_login("notes", "http://127.0.0.1:3333/x", ["localhost"])
    assert await servers.service.begin_login("notes", "http://127.0.0.1:3333/x", ["login.example.org"])
    assert servers.catalog.get("notes").approval.hosts == ("login.example.org",)  # type: ignore[union-attr]


async def test_what_is_no_token(servers: RemoteServers, authority: Authority) -> None:
    for token, status, key in (
        ({"access_token": "a\r\nb"}, 200, "not_a_token"),
        ({"access_token": ""}, 200, "not_a_token"),
        ({"access_token": 7}, 200, "no_token_given"),
        ({"access_token": "x" * 100_000}, 200, "not_a_token"),
        ({"token_type": "mac"}, 200, "no_token_given"),
        ({"error": "invalid_grant"}, 400, "token_refused"),
        ({"error": "x" * 100_000}, 500, "token_refused"),
    ):
        authority.token, authority.token_status = token, status
        pending = await servers.service.begin_login_here("notes")
        with raises(key) as failed:
            await servers.service.remote.logins.finish(Callback(pending.state, "code"))
        assert len(str(failed.value)) < 1000
        assert servers.catalog.logins.secrets() == ()


async def test_another_issuer_answers(servers: RemoteServers, authority: Authority) -> None:
    authority.metadata = {"authorization_response_iss_parameter_supported": True}
    assert authority.server is not None
    for issuer in (None, "https://evil.example.org"):
        pending = await servers.service.begin_login_here("notes")
        with pytest.raises(ParachuteError) as failed:
            await servers.service.remote.logins.finish(Callback(pending.state, "code", issuer))
        assert failed.value.key == "wrong_issuer"
    pending = await servers.service.begin_login_here("notes")
    assert (
        await servers.service.remote.logins.finish(Callback(pending.state, "code", authority.server.origin)) == "notes"
    )


async def test_a_refresh_goes_where_the_owner_signed_in(servers: RemoteServers, authority: Authority) -> None:
    pending = await servers.service.begin_login_here("notes")
    await servers.service.remote.logins.finish(Callback(pending.state, "code"))
    async with hostile_server(harmless) as other:
        # Whatever the server says later of where tokens are refreshed.
        authority.metadata = {"token_endpoint": f"{other.origin}/token"}
        authority.token_status = 503
        login = servers.catalog.logins.all()["notes"]
        await asyncio.to_thread(servers.catalog.logins.keep, _ended(login))
        with pytest.raises(ParachuteError) as failed:
            await servers.service.call("notes", "act", {})
        assert failed.value.key == "login_not_refreshed"
        assert other.asked == []
    assert servers.catalog.logins.secrets()  # it may work again
    assert servers.service.statuses.of(servers.catalog.get("notes"))[0] == "error"


def _ended(login: Any) -> Any:
    from msgspec.structs import replace

    return replace(login, ends=1.0)


async def test_a_link_keeps_what_the_page_has_already(servers: RemoteServers, authority: Authority) -> None:
    assert authority.server is not None
    authority.metadata = {"authorization_endpoint": f"{authority.server.origin}/authorize?tenant=1"}
    pending = await servers.service.begin_login_here("notes")
    assert parse_qs(urlsplit(pending.link).query)["tenant"] == ["1"]
    assert json.dumps(pending.link)
