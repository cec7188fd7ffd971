"""Refreshing the login of `claude login`, at a scripted OAuth server."""

import asyncio
import json
import mmap
import os
import stat
import threading
import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import claude_agent_sdk
import pytest

from parachute.llm.gateway.login import CLIENT_ID, TOKEN_URL, Login
from parachute.llm.gateway.models import Problem
from parachute.llm.gateway.reports import ShownCredential
from tests.support.clock import ManualClock
from tests.support.messages_api import MessagesAPI, text
from tests.support.oauth_server import OAuthServer

from .conftest import TOKEN, Installation, agent, question

OTHERS = {"mcpOAuth": {"server": {"accessToken": "kept"}}}


async def credential_of(installation: Installation) -> ShownCredential:
    found = (await installation.gateway.status()).credential
    assert found is not None
    return found


@pytest.fixture
def oauth() -> Iterator[OAuthServer]:
    with OAuthServer("refresh-1") as server:
        yield server


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime.now(UTC))


@pytest.fixture
def heard() -> list[bool]:
    """Failed refreshes, and those that succeeded again, of which the doctor hears."""
    return []


@pytest.fixture
async def signed_in(
    folder: Path, api: MessagesAPI, oauth: OAuthServer, clock: ManualClock, heard: list[bool]
) -> AsyncIterator[Installation]:
    """An installation with a login that ends in a minute."""
    login = Login(folder / ".claude" / ".credentials.json", lambda: heard.append(True), oauth.url, clock)
    made = Installation(folder, {}, {"provider": "anthropic", "base_url": api.url}, login, clock)
    write(made, 60)
    api.default(text("Yes."))
    await made.open()
    yield made
    await made.close()


def write(made: Installation, seconds: float, **fields: Any) -> None:
    login = {"accessToken": TOKEN, "refreshToken": "refresh-1", "expiresAt": int((time.time() + seconds) * 1000)}
    login |= {"scopes": ["user:inference", "user:profile"], "subscriptionType": "max", **fields}
    (made.claude / ".credentials.json").write_text(json.dumps({**OTHERS, "claudeAiOauth": login}))


def stored(made: Installation) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((made.claude / ".credentials.json").read_text())
    return found


async def ask(made: Installation, session: str = "one") -> tuple[int, Problem | None]:
    endpoint = await made.gateway.open(session)
    async with agent(endpoint) as client:
        response = await client.post("/v1/messages", json=question())
    return response.status_code, endpoint.problem


async def test_a_login_that_ends_soon_is_refreshed_in_its_file(
    signed_in: Installation, api: MessagesAPI, oauth: OAuthServer
) -> None:
    ends = int((time.time() + 86400) * 1000)
    write(signed_in, 299, refreshTokenExpiresAt=ends, clientId=None)
    oauth.fields = {"refresh_token_expires_in": 10 * 86400, "scope": "user:inference"}
    api.require(bearer="sk-ant-oat01-access-2")
    assert await ask(signed_in) == (200, None)
    assert oauth.requests == [
        {
            "grant_type": "refresh_token",
            "refresh_token": "refresh-1",
            "client_id": CLIENT_ID,
            "scope": "user:inference user:profile",
        }
    ]
    document = stored(signed_in)
    login = document["claudeAiOauth"]
    assert document["mcpOAuth"] == OTHERS["mcpOAuth"]
    assert (login["accessToken"], login["refreshToken"]) == ("sk-ant-oat01-access-2", "refresh-2")
    assert (login["subscriptionType"], login["scopes"]) == ("max", ["user:inference"])
    assert login["expiresAt"] > (time.time() + 20000) * 1000
    assert login["refreshTokenExpiresAt"] == ends
    assert stat.S_IMODE((signed_in.claude / ".credentials.json").stat().st_mode) == 0o600
    assert [path.name for path in signed_in.claude.iterdir()] == [".credentials.json"]
    assert not (signed_in.folder / ".claude.lock").exists()


async def test_a_login_that_lasts_is_left_alone(signed_in: Installation, oauth: OAuthServer) -> None:
    write(signed_in, 600)
    assert await ask(signed_in) == (200, None)
    assert oauth.requests == []


async def test_many_requests_at_once_need_one_refresh(
    signed_in: Installation, api: MessagesAPI, oauth: OAuthServer
) -> None:
    write(signed_in, -10)
    answers = await asyncio.gather(*(ask(signed_in, f"s{number}") for number in range(8)))
    assert answers == [(200, None)] * 8
    assert len(oauth.requests) == 1
    assert {request.headers["authorization"] for request in api.requests} == {"Bearer sk-ant-oat01-access-2"}


async def test_a_refresh_goes_on_when_the_agent_that_waits_for_it_leaves(
    signed_in: Installation, oauth: OAuthServer
) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def held() -> None:
        asked.set()
        go_on.wait(60)

    oauth.before_answer = held
    asking = asyncio.create_task(ask(signed_in))
    await asyncio.to_thread(asked.wait, 60)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    go_on.set()
    await signed_in.gateway.upstream.close()
    assert stored(signed_in)["claudeAiOauth"]["refreshToken"] == "refresh-2"


async def test_a_login_that_claude_code_refreshes_is_taken_over(
    signed_in: Installation, oauth: OAuthServer, clock: ManualClock
) -> None:
    write(signed_in, -10)
    lock = signed_in.claude / ".oauth_refresh.lock"
    lock.mkdir()
    asking = asyncio.create_task(ask(signed_in))
    await clock.advance(0)
    write(signed_in, 3600, accessToken="sk-ant-oat01-theirs", refreshToken="refresh-theirs")
    lock.rmdir()
    await clock.advance(1)
    assert await asking == (200, None)
    assert oauth.requests == []
    assert stored(signed_in)["claudeAiOauth"]["refreshToken"] == "refresh-theirs"


async def test_a_lock_that_was_left_behind_is_taken_over(signed_in: Installation, oauth: OAuthServer) -> None:
    for lock in (signed_in.claude / ".oauth_refresh.lock", signed_in.folder / ".claude.lock"):
        lock.mkdir()
        os.utime(lock, (1, 1))
    assert await ask(signed_in) == (200, None)
    assert len(oauth.requests) == 1
    assert not lock.exists()


async def test_what_was_signed_in_anew_meanwhile_stays(signed_in: Installation, oauth: OAuthServer) -> None:
    oauth.before_answer = lambda: write(signed_in, 3600, accessToken="sk-ant-oat01-new", refreshToken="refresh-new")
    assert await ask(signed_in) == (200, None)
    assert stored(signed_in)["claudeAiOauth"]["refreshToken"] == "refresh-new"


async def test_a_refused_refresh_token_is_asked_once_and_named_before_the_login_ends(
    signed_in: Installation, oauth: OAuthServer, heard: list[bool]
) -> None:
    write(signed_in, 60, refreshToken="refresh-0")
    assert await ask(signed_in) == (200, None)
    assert heard == [True]
    credential = await credential_of(signed_in)
    assert "claude login" in (credential.problem or "")
    assert credential.expired is False
    write(signed_in, -10, refreshToken="refresh-0")
    status, problem = await ask(signed_in)
    assert (status, problem and problem.code) == (401, "expired_token")
    assert len(oauth.requests) == 1
    write(signed_in, 3600, accessToken="sk-ant-oat01-new")
    assert (await credential_of(signed_in)).problem is None


@pytest.mark.parametrize(
    "answer", [(500, b"{}"), (200, b"<html>Sign in to this network"), (200, b'{"access_token": 1}')]
)
async def test_what_is_no_login_changes_nothing_and_may_pass(
    signed_in: Installation, oauth: OAuthServer, clock: ManualClock, answer: tuple[int, bytes]
) -> None:
    write(signed_in, -10)
    before, oauth.answer = stored(signed_in), answer
    status, problem = await ask(signed_in)
    assert (status, problem and problem.code) == (502, "network_error")
    assert stored(signed_in) == before
    oauth.answer = None
    clock.move(29)
    assert (await ask(signed_in))[0] == 502, "it is not asked all the time"
    clock.move(1)
    assert await ask(signed_in) == (200, None)


async def test_a_login_that_is_refused_is_refreshed_once(
    signed_in: Installation, api: MessagesAPI, oauth: OAuthServer
) -> None:
    write(signed_in, 3600)
    api.require(bearer="sk-ant-oat01-access-2")
    assert await ask(signed_in) == (200, None)
    assert len(oauth.requests) == 1


async def test_the_login_of_before_comes_back_when_the_new_one_never_worked(
    signed_in: Installation, api: MessagesAPI, oauth: OAuthServer, clock: ManualClock
) -> None:
    before = stored(signed_in)
    api.require(bearer="nobody")
    assert (await ask(signed_in))[0] == 401
    assert stored(signed_in)["claudeAiOauth"]["refreshToken"] == "refresh-2"
    assert (signed_in.claude / ".credentials.json.before").exists()
    oauth.refresh_token = "refresh-none"
    clock.move(30)
    status, problem = await ask(signed_in)
    assert (status, problem and problem.code) == (401, "expired_token")
    assert stored(signed_in) == before


async def test_a_folder_that_takes_no_file_costs_no_token(signed_in: Installation, oauth: OAuthServer) -> None:
    (signed_in.claude / ".credentials.json.before" / "in the way").mkdir(parents=True)
    assert await ask(signed_in) == (200, None)
    assert (await credential_of(signed_in)).problem
    assert oauth.requests == []


async def test_a_login_that_cannot_be_written_is_used_and_written_later(
    signed_in: Installation, api: MessagesAPI, oauth: OAuthServer, clock: ManualClock
) -> None:
    made = signed_in.claude / ".storage-write.lock"
    oauth.before_answer = made.mkdir
    api.require(bearer="sk-ant-oat01-access-2")
    write(signed_in, -10)
    assert await clock.until_done(ask(signed_in)) == (200, None)
    assert stored(signed_in)["claudeAiOauth"]["refreshToken"] == "refresh-1"
    assert (await credential_of(signed_in)).problem
    made.rmdir()
    clock.move(30)
    assert await ask(signed_in) == (200, None)
    assert len(oauth.requests) == 1
    assert stored(signed_in)["claudeAiOauth"]["refreshToken"] == "refresh-2"
    assert (await credential_of(signed_in)).problem is None


def test_the_program_that_comes_with_the_sdk_still_works_like_this() -> None:
    program = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
    with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as code:
        for word in (
            TOKEN_URL,
            CLIENT_ID,
            ".oauth_refresh.lock",
            ".storage-write",
            "r+300000>=e",
            "refreshTokenExpiresAt",
        ):
            assert code.find(word.encode()) >= 0, word
