"""The doctor and the logs of a running computer, as a screen asks for them; the doctor is the real program."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, cast

import httpx2
import pytest

from parachute.ops.doctor.findings import Findings
from parachute.security.keys.cli_token import CliToken
from tests.support.computer import Computer
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI
from tests.support.waiting import SECONDS, until


@pytest.fixture(scope="module")
def shared(make_shared_computer: Make[Computer]) -> Computer:
    """A computer for the tests of this file."""
    return make_shared_computer()


@pytest.fixture
async def owner(shared: Computer) -> AsyncIterator[httpx2.AsyncClient]:
    async with shared.client(headers={"authorization": f"Bearer {CliToken(shared.home.root).obtain()}"}) as client:
        yield client


async def problem(client: httpx2.AsyncClient, check: str) -> dict[str, Any]:
    """Return the finding of a check, when no examination is under way."""
    found: dict[str, Any] = {}

    async def is_known() -> bool:
        nonlocal found
        found = (await client.get("/api/doctor")).json()
        return not found["is_examining"] and found["examined_at"] is not None

    await until(is_known, "everything was examined")
    (one,) = [each for each in found["checks"] if each["id"] == check]
    return dict(one)


async def again(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/api/doctor/examine")
    assert (answer.status_code, answer.json()["is_examining"]) == (202, True)


async def test_a_problem_is_shown_mended_and_gone(shared: Computer, owner: httpx2.AsyncClient) -> None:
    open_file = shared.home.root / "hooks.yaml"
    open_file.write_text("hooks: []\n")
    open_file.chmod(0o644)
    found = await problem(owner, "private-files")
    assert (found["result"], found["can_fix"], found["is_dismissed"]) == ("warning", True, False)
    wrong = await owner.post("/api/doctor/fix", json={"key": "private-files-00000000"})
    assert (wrong.status_code, wrong.json()["key"]) == (404, "no_such_problem")
    done = await owner.post("/api/doctor/fix", json={"key": found["key"]})
    assert done.status_code == 200, done.text
    assert done.json()["key"] == found["key"]
    assert open_file.stat().st_mode & 0o777 == 0o600
    now = await problem(owner, "private-files")
    assert (now["result"], now["key"], now["fix"]) == ("ok", None, None)
    assert (await owner.post("/api/doctor/fix", json={"key": found["key"]})).status_code == 404


async def test_what_is_dismissed_is_not_heard_of_until_it_is_another_problem(
    shared: Computer, owner: httpx2.AsyncClient
) -> None:
    config = shared.home.config.read_text()
    shared.home.config.write_text(config + "no_such_setting: 1\n")
    await again(owner)
    found = await problem(owner, "settings")
    assert found["result"] == "problem"
    cannot = await owner.post("/api/doctor/fix", json={"key": found["key"]})
    assert (cannot.status_code, cannot.json()["key"]) == (409, "cannot_fix")

    async def waiting() -> list[str]:
        items = (await owner.get("/api/inbox")).json()["items"]
        return [each["details"]["check"] for each in items if each["kind"] == "problem"]

    assert "settings" in await waiting()
    shown = (await owner.post("/api/doctor/dismiss", json={"key": found["key"]})).json()
    assert [each["id"] for each in shown["checks"] if each["is_dismissed"]] == ["settings"]
    assert "settings" not in await waiting()
    assert found["key"] in Findings.read(shared.home.root).dismissed
    await owner.post("/api/doctor/undismiss", json={"key": found["key"]})
    assert "settings" in await waiting()
    await owner.post("/api/doctor/dismiss", json={"key": found["key"]})
    shared.home.config.write_text(config + "another_setting: 1\n")
    await again(owner)
    other = await problem(owner, "settings")
    assert (other["is_dismissed"], other["key"] != found["key"]) == (False, True)
    assert "settings" in await waiting()
    shared.home.config.write_text(config)
    gone = await owner.post("/api/doctor/dismiss", json={"key": found["key"]})
    assert (gone.status_code, gone.json()["key"]) == (404, "no_such_problem")


async def test_a_log_is_read_and_followed_without_secrets(
    shared: Computer, owner: httpx2.AsyncClient, model: MessagesAPI
) -> None:
    units = (await owner.get("/api/logs/units")).json()["units"]
    assert {"core", "supervisor"} <= {each["unit"] for each in units}
    secret = model.credentials["ANTHROPIC_API_KEY"]
    token = CliToken(shared.home.root).obtain()
    log = shared.home.logs / "core.log"
    with log.open("a") as file:
        file.write(f"before {secret} and {token}\npassword=hunter22\n{'x' * 10_000}\n")
    found = (await owner.get("/api/logs/core?lines=3")).json()
    assert found["unit"] == "core"
    assert found["lines"][:2] == ["before [removed] and [removed]", "password=[removed]"]
    assert len(found["lines"][2]) < 5000
    assert (await owner.get("/api/logs/core?lines=0")).json()["lines"] == []
    missing = await owner.get("/api/logs/..%2Fkeys")
    assert missing.status_code == 400
    assert (await owner.get("/api/logs/nobody")).json()["key"] == "no_such_log"
    assert (await owner.get("/api/logs/core?lines=100000")).status_code == 422

    path = "/api/logs/core?lines=1&follow=true"
    async with (
        owner.stream("GET", path) as stream,
        aclosing(cast(AsyncGenerator[str, None], stream.aiter_lines())) as lines,
    ):

        async def said() -> list[str]:
            async for line in lines:
                if line.startswith("data: "):
                    return list(json.loads(line.removeprefix("data: "))["lines"])
            raise AssertionError("the stream ended")

        assert len(await said()) == 1
        with log.open("a") as file:
            file.write(f"after {secret}\n")
        async with asyncio.timeout(SECONDS):
            while (new := await said())[-1] != "after [removed]":
                assert not any(secret in each for each in new)


async def test_no_backup_is_made_to_nowhere(owner: httpx2.AsyncClient) -> None:
    for method, path in (("POST", "/api/backups"), ("POST", "/api/backups/drill"), ("GET", "/api/backups/list")):
        refused = await owner.request(method, path)
        assert (refused.status_code, refused.json()["key"]) == (422, "backup_not_set_up")


async def test_both_are_for_admins(shared: Computer, owner: httpx2.AsyncClient) -> None:
    made = (await owner.post("/api/auth/keys", json={"label": "Guest", "scopes": ["*:read,write"]})).json()
    async with shared.client(headers={"authorization": f"Bearer {made['key']}"}) as guest:
        for path in ("/api/doctor", "/api/logs/units", "/api/logs/core", "/api/backups", "/api/backups/list"):
            assert (await guest.get(path)).status_code == 403, path
        for path in ("/api/doctor/fix", "/api/doctor/dismiss", "/api/backups", "/api/backups/drill"):
            assert (await guest.post(path, json={"key": "x"})).status_code == 403, path
