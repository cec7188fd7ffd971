"""The set-up page and what it asks of the API, from a whole computer."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest

from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from parachute.server.setup_page.assets import ASSETS
from parachute.web.first_boot.service import FirstBoot, current_boot
from tests.contract.responses import check_error
from tests.support.computer import Computer

pytestmark = pytest.mark.long

PAGES = {"/setup": "page.html", "/setup/page.css": "page.css", "/setup/page.js": "page.js"}


@pytest.fixture
def computer() -> Iterator[Computer]:
    """A new computer."""
    with Computer() as running:
        yield running


@pytest.fixture
def keys(computer: Computer) -> Iterator[Keys]:
    """Its keys, as the command line sees them."""
    made = Keys(computer.home.root)
    yield made
    made.close()


@pytest.fixture
async def app(computer: Computer, keys: Keys) -> AsyncIterator[httpx2.AsyncClient]:
    """The page, with the key that the screen shows."""
    secret = FirstBoot(computer.home.root, keys).invite(boot=current_boot()).secret
    async with computer.client(headers={"authorization": f"Bearer {secret}", "origin": computer.url}) as client:
        yield client


def test_the_page_is_one_of_few_words() -> None:
    sizes = {name: len(asset.content) for name, asset in ASSETS.items()}
    assert all(size < 16_000 for size in sizes.values()), sizes
    for name, asset in ASSETS.items():
        text = asset.content.decode()
        assert "<script>" not in text, name
        assert "style=" not in text, name
        assert " on" + "click=" not in text, name
        assert "http://" not in text.replace("http://192.168.1.5:11434", ""), "nothing comes from elsewhere"
        assert "https://" not in text, name


async def test_it_is_open_and_keeps_to_itself(computer: Computer) -> None:
    async with computer.client() as stranger:
        for path, name in PAGES.items():
            answer = await stranger.get(path)
            assert (answer.status_code, answer.content) == (200, ASSETS[name].content)
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert answer.headers["referrer-policy"] == "no-referrer"
            again = await stranger.get(path, headers={"if-none-match": answer.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
        # A page of another site may lead here, and nothing more.
        elsewhere = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
        assert (await stranger.get("/setup", headers=elsewhere)).status_code == 200
        assert (await stranger.post("/setup", headers=elsewhere)).status_code == 403


@pytest.mark.parametrize("name", ["setup.json", "keys.yaml"])
async def test_a_stranger_does_not_learn_where_a_broken_file_lies(computer: Computer, name: str) -> None:
    (computer.home.root / name).write_text("{")
    (computer.home.root / name).chmod(0o600)
    async with computer.client(headers={"x-forwarded-for": "192.168.1.77"}) as stranger:
        answer = await stranger.get("/setup")
    check_error(answer, 503)
    assert str(computer.folder) not in answer.text
    assert f"{computer.home.root}/{name}" in computer.logs(), "the owner reads it"


async def test_what_it_shows_needs_a_key_that_may_do_everything(computer: Computer, keys: Keys) -> None:
    _, narrow = keys.create("Reader", (Scope.parse("*:read,write"),))
    for headers in ({}, {"authorization": f"Bearer {narrow}"}):
        async with computer.client(headers=headers) as client:
            for method, path in (("GET", "/api/setup"), ("POST", "/api/setup/finish"), ("PUT", "/api/provider")):
                body = {"provider": "offline"} if method == "PUT" else None
                assert (await client.request(method, path, json=body)).status_code == 403
    assert not computer.home.config.read_text().count("offline")
    # This stages the modules, which whoever asked often would keep the computer busy with.
    for headers in (
        {"authorization": f"Bearer {narrow}"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
    ):
        async with computer.client(headers=headers) as client:
            assert (await client.get("/api/modules/official")).status_code == 403


async def test_from_the_first_look_to_the_end(computer: Computer, keys: Keys, app: httpx2.AsyncClient) -> None:
    first_boot = FirstBoot(computer.home.root, keys)
    status = (await app.get("/api/setup")).json()
    assert status["is_open"] is True
    assert (status["vault"], status["provider"]["provider"]) == (str(computer.vault), "offline")
    assert status["time_zone"]
    assert first_boot.invite(boot=current_boot()).secret is None, "the key is in somebody's hands"
    assert "no other key" in check_error(await app.post("/api/setup/finish"), 409)
    phone = (await app.post("/api/auth/keys", json={"label": "Phone"})).json()["key"]
    assert (await app.post("/api/setup/finish")).json() == {"success": True}
    check_error(await app.get("/api/setup"), 401)
    gone = await app.get("/setup")
    assert (gone.status_code, gone.content) == (410, ASSETS["done.html"].content)
    async with computer.client(headers={"x-api-key": phone}) as client:
        assert (await client.get("/api/setup")).json()["is_open"] is False
    assert first_boot.invite(boot="another").is_done
    assert first_boot.invite(boot="another", again=True).secret
    async with computer.client() as stranger:
        assert (await stranger.get("/setup")).status_code == 200, "`--again` holds at once"


async def test_a_provider_is_chosen_and_holds_at_once(computer: Computer, app: httpx2.AsyncClient) -> None:
    secret = "sk-ant-oat01-a-token-of-a-subscription"
    chosen = await app.put("/api/provider", json={"provider": "anthropic", "secret": secret})
    assert chosen.status_code == 200
    assert secret not in chosen.text
    assert chosen.json()["provider"] == "anthropic"
    assert chosen.json()["credential"]["source"] == str(computer.home.credentials)
    assert json.loads(computer.home.credentials.read_text()) == {"oauth_token": secret, "for": "anthropic"}
    assert (await app.get("/api/status")).json()["provider"]["provider"] == "anthropic"
    wrong: list[dict[str, Any]] = [
        {"provider": "other"},
        {"provider": "anthropic", "secret": "x"},
        {"provider": "compatible"},
        {"provider": "offline", "secret": secret},
        {"provider": "offline", "further": 1},
        {},
    ]
    before = computer.home.config.read_text()
    for body in wrong:
        refused = await app.put("/api/provider", json=body)
        assert refused.status_code in (400, 422), body
        assert secret not in refused.text
    assert computer.home.config.read_text() == before
    computer.kill_core()
    assert (await app.get("/api/status")).json()["provider"]["provider"] == "anthropic"
    assert secret not in computer.logs()


async def test_official_modules_are_installed_with_what_was_seen(computer: Computer, app: httpx2.AsyncClient) -> None:
    offered = {module["name"]: module for module in (await app.get("/api/modules/official")).json()["modules"]}
    assert sorted(offered) == ["brain", "chat", "daily"]
    daily = offered["daily"]
    assert daily["installed"] is False
    assert "Read and write: Daily/**" in daily["text"]
    assert not (computer.vault / ".modules" / "daily").exists(), "nothing is installed by looking"
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
