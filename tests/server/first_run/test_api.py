"""Requests for setting a new computer up, from a whole computer."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest

from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from parachute.web.first_boot.service import FirstBoot, current_boot
from tests.contract.responses import check_error
from tests.support.browser import Browser
from tests.support.computer import Computer
from tests.support.making import SIGNED_OUT, Make

pytestmark = pytest.mark.long


@pytest.fixture
def fresh(make_computer: Make[Computer]) -> Computer:
    """A new computer."""
    return make_computer(environment=SIGNED_OUT)


@pytest.fixture
def keys(fresh: Computer) -> Iterator[Keys]:
    """Its keys, as the command line sees them."""
    made = Keys(fresh.home.root)
    yield made
    made.close()


@pytest.fixture
async def app(fresh: Computer, keys: Keys) -> AsyncIterator[httpx2.AsyncClient]:
    """The console, with the key that the screen shows."""
    secret = FirstBoot(fresh.home.root, keys).invite(boot=current_boot()).secret
    async with fresh.client(headers={"authorization": f"Bearer {secret}", "origin": fresh.url}) as client:
        yield client


async def test_the_address_that_was_printed_leads_to_the_console(fresh: Computer) -> None:
    async with fresh.client() as stranger:
        answer = await stranger.get("/setup")
        # Without a # of its own, so that browsers take the key along that stands behind the one of the printed address.
        assert (answer.status_code, answer.headers["location"]) == (307, "/")
        assert answer.content == b""
        # A page of another site may lead here, and nothing more.
        elsewhere = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
        assert (await stranger.get("/setup", headers=elsewhere)).status_code == 307
        assert (await stranger.post("/setup", headers=elsewhere)).status_code == 403
        for path in ("/setup/page.css", "/setup/page.js"):
            assert (await stranger.get(path)).status_code == 404


@pytest.mark.parametrize("name", ["setup.json", "keys.yaml"])
async def test_a_stranger_does_not_learn_where_a_broken_file_lies(fresh: Computer, name: str) -> None:
    (fresh.home.root / name).write_text("{")
    (fresh.home.root / name).chmod(0o600)
    async with fresh.client(headers={"x-forwarded-for": "192.168.1.77"}) as stranger:
        for path in ("/setup", "/", "/api/pairing/me"):
            answer = await stranger.get(path)
            assert str(fresh.folder) not in answer.text


async def test_who_administers_it_learns_whether_it_was_set_up_and_nobody_else(
    fresh: Computer, keys: Keys, app: httpx2.AsyncClient
) -> None:
    async def set_up(secret: str | None = None) -> Any:
        headers = {"authorization": f"Bearer {secret}"} if secret else {"x-forwarded-for": "192.168.1.77"}
        async with fresh.client(headers=headers) as client:
            return (await client.get("/api/pairing/me")).json()["set_up"]

    _, narrow = keys.create("Reader", (Scope.parse("*:read,write"),))
    assert (await app.get("/api/pairing/me")).json()["set_up"] is False
    assert await set_up(narrow) is None
    assert await set_up() is None
    _, phone = keys.create("Phone")
    assert await set_up(phone) is False, "it has begun, so a key alone does not end it"
    assert (await app.post("/api/setup/finish")).status_code == 200
    assert await set_up(phone) is True
    assert await set_up(narrow) is None


def test_begun_without_a_first_key_it_ends_with_finishing_and_not_with_a_key(fresh: Computer, keys: Keys) -> None:
    """`make run`: no key was shown, a browser paired by a code."""
    with Browser(fresh) as browser:
        assert browser.sign_in()["set_up"] is False
        assert browser.get("/api/setup").json()["is_open"] is True
        keys.create("Phone")
        assert browser.me()["set_up"] is False
        keys.revoke("Phone")
        assert browser.post("/api/setup/finish").status_code == 200, "a browser that administers it is enough"
        assert browser.me()["set_up"] is True
        assert browser.get("/api/setup").json()["is_open"] is False


async def test_what_it_shows_needs_a_key_that_may_do_everything(fresh: Computer, keys: Keys) -> None:
    _, narrow = keys.create("Reader", (Scope.parse("*:read,write"),))
    for headers in ({}, {"authorization": f"Bearer {narrow}"}):
        async with fresh.client(headers=headers) as client:
            for method, path in (("GET", "/api/setup"), ("POST", "/api/setup/finish"), ("PUT", "/api/provider")):
                body = {"provider": "offline"} if method == "PUT" else None
                assert (await client.request(method, path, json=body)).status_code == 403
    assert not fresh.home.config.read_text().count("offline")
    # This stages the modules, which whoever asked often would keep the computer busy with.
    for headers in (
        {"authorization": f"Bearer {narrow}"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
    ):
        async with fresh.client(headers=headers) as client:
            assert (await client.get("/api/modules/official")).status_code == 403


async def test_from_the_first_look_to_the_end(fresh: Computer, keys: Keys, app: httpx2.AsyncClient) -> None:
    first_boot = FirstBoot(fresh.home.root, keys)
    status = (await app.get("/api/setup")).json()
    assert status["is_open"] is True
    assert (status["vault"], status["provider"]["provider"]) == (str(fresh.vault), "offline")
    assert status["time_zone"]
    assert status["model_chosen"] is False
    assert first_boot.invite(boot=current_boot()).secret is None, "the key is in somebody's hands"
    assert "no other key" in check_error(await app.post("/api/setup/finish"), 409)
    phone = (await app.post("/api/auth/keys", json={"label": "Phone"})).json()["key"]
    assert (await app.post("/api/setup/finish")).json() == {"success": True}
    check_error(await app.get("/api/setup"), 401)
    async with fresh.client(headers={"x-api-key": phone}) as client:
        assert (await client.get("/api/setup")).json()["is_open"] is False
    assert first_boot.invite(boot="another").is_done
    assert first_boot.invite(boot="another", again=True).secret
    async with fresh.client(headers={"x-api-key": phone}) as client:
        assert (await client.get("/api/setup")).json()["is_open"] is True, "`--again` holds at once"


async def test_a_provider_is_chosen_and_holds_at_once(fresh: Computer, app: httpx2.AsyncClient) -> None:
    secret = "sk-ant-oat01-a-token-of-a-subscription"
    chosen = await app.put("/api/provider", json={"provider": "anthropic", "secret": secret})
    assert chosen.status_code == 200
    assert secret not in chosen.text
    assert chosen.json()["provider"] == "anthropic"
    assert (await app.get("/api/setup")).json()["model_chosen"] is True
    assert chosen.json()["credential"]["source"] == str(fresh.home.credentials)
    assert json.loads(fresh.home.credentials.read_text()) == {"oauth_token": secret, "for": "anthropic"}
    assert (await app.get("/api/status")).json()["provider"]["provider"] == "anthropic"
    wrong: list[dict[str, Any]] = [
        {"provider": "other"},
        {"provider": "anthropic", "secret": "x"},
        {"provider": "compatible"},
        {"provider": "offline", "secret": secret},
        {"provider": "offline", "further": 1},
        {},
    ]
    before = fresh.home.config.read_text()
    for body in wrong:
        refused = await app.put("/api/provider", json=body)
        assert refused.status_code in (400, 422), body
        assert secret not in refused.text
    assert fresh.home.config.read_text() == before
    fresh.kill_core()
    assert (await app.get("/api/status")).json()["provider"]["provider"] == "anthropic"
    assert secret not in fresh.logs()


async def test_official_modules_are_installed_with_what_was_seen(fresh: Computer, app: httpx2.AsyncClient) -> None:
    offered = {module["name"]: module for module in (await app.get("/api/modules/official")).json()["modules"]}
    assert sorted(offered) == ["brain", "chat", "daily", "imports"]
    daily = offered["daily"]
    assert daily["installed"] is False
    assert "Read and write: Daily/**" in daily["text"]
    assert not (fresh.vault / ".modules" / "daily").exists(), "nothing is installed by looking"
    other = {"source": daily["source"], "hash": offered["brain"]["hash"]}
    assert "changed" in check_error(await app.post("/api/modules/install", json=other), 409)
    for source in ("/etc", "https://github.com/x/y", "github://x/y", "file:///x", "../daily"):
        refused = await app.post("/api/modules/install", json={"source": source, "hash": daily["hash"]})
        assert "came with this computer" in check_error(refused, 422)
    nobody = {"source": "parachute://nobody", "hash": daily["hash"]}
    check_error(await app.post("/api/modules/install", json=nobody), 404)
    wanted = {"source": daily["source"], "hash": daily["hash"]}
    for _ in range(2):
        installed = (await app.post("/api/modules/install", json=wanted)).json()
        assert (installed["name"], installed["trust_level"], installed["state"]) == ("daily", "verified", "ready")
    offered = {module["name"]: module for module in (await app.get("/api/modules/official")).json()["modules"]}
    assert [name for name, module in offered.items() if module["installed"]] == ["daily"]
    assert (await app.get("/api/daily/entries")).status_code != 404
