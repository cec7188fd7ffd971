"""Settings of a running computer, as a screen shows and changes them."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
import yaml

from parachute.security.keys.cli_token import CliToken
from tests.support.computer import Computer
from tests.support.installation import PLAIN
from tests.support.making import Make

MIDNIGHT: dict[str, Any] = {
    "sandbox": {"cpus": 1.5},
    "backup": {"repository": "rest:https://me:very-secret-word@backup.test/"},
}


@pytest.fixture(scope="module")
def configured(make_shared_computer: Make[Computer]) -> Computer:
    """A computer with settings in its file and in its environment."""
    return make_shared_computer(Computer, environment={"PARACHUTE_SESSION_IDLE_MINUTES": "12"}, **MIDNIGHT)


@pytest.fixture
async def owner(configured: Computer) -> AsyncIterator[httpx2.AsyncClient]:
    async with configured.client(
        headers={"authorization": f"Bearer {CliToken(configured.home.root).obtain()}"}
    ) as client:
        yield client


async def setting(client: httpx2.AsyncClient, name: str) -> dict[str, Any]:
    found = (await client.get("/api/config")).json()["settings"]
    return dict(next(each for each in found if each["name"] == name))


def written(computer: Computer) -> dict[str, Any]:
    return dict(yaml.safe_load(computer.home.config.read_text()))


async def test_a_setting_is_described_so_that_a_form_can_be_made_of_it(owner: httpx2.AsyncClient) -> None:
    cpus = await setting(owner, "sandbox.cpus")
    assert (cpus["value"], cpus["source"], cpus["kind"], cpus["restart"]) == (1.5, "file", "number", None)
    mode = await setting(owner, "network.mode")
    assert (mode["kind"], mode["allowed"], mode["source"]) == ("word", ["off", "ask", "list"], "default")
    assert mode["caution"] == "rights"
    kinds = {
        name: (await setting(owner, name))["kind"] for name in ("trust_mode", "port", "origins", "network.presets")
    }
    assert kinds == {"trust_mode": "boolean", "port": "integer", "origins": "list", "network.presets": "mapping"}
    model = await setting(owner, "model")
    assert (model["kind"], model["may_be_empty"]) == ("text", True)


async def test_a_change_is_written_and_waits_for_a_restart(configured: Computer, owner: httpx2.AsyncClient) -> None:
    changed = (await owner.put("/api/config/audit.keep_days", json={"value": 30})).json()
    assert (changed["value"], changed["source"], changed["restart"]) == (30, "file", "server")
    assert written(configured)["audit"] == {"keep_days": 30}
    back = (await owner.delete("/api/config/audit.keep_days")).json()
    assert (back["value"], back["source"], back["restart"]) == (90, "default", None)
    assert "audit" not in written(configured)


async def test_texts_and_lists_stay_what_they_are(configured: Computer, owner: httpx2.AsyncClient) -> None:
    # YAML would take the first for a truth and the second for a comment.
    for text in ("yes", "a # b", "née 🙂", "[one]"):
        answer = await owner.put("/api/config/model", json={"value": text})
        assert (answer.status_code, answer.json()["value"]) == (200, text)
    assert (await owner.put("/api/config/model", json={"value": None})).json()["value"] is None
    hosts = await owner.put("/api/config/hostnames", json={"value": ["box.test", "other.test"]})
    assert hosts.json()["value"] == ["box.test", "other.test"]
    preset = await owner.put("/api/config/network.presets.python", json={"value": ["index.example.org"]})
    assert preset.json()["value"] == ["index.example.org"]
    assert written(configured)["network"] == {"presets": {"python": ["index.example.org"]}}
    for name in ("model", "hostnames", "network.presets.python"):
        assert (await owner.delete(f"/api/config/{name}")).status_code == 200


async def test_the_chosen_model_holds_at_once(owner: httpx2.AsyncClient) -> None:
    changed = (await owner.put("/api/config/provider", json={"value": "offline"})).json()
    assert changed["restart"] is None
    assert (await owner.get("/api/status")).json()["provider"]["provider"] == "offline"
    await owner.delete("/api/config/provider")


@pytest.mark.parametrize(
    ("name", "value", "status", "key"),
    [
        ("prot", 80, 404, "unknown_setting"),
        ("sandbox", {"cpus": 1}, 404, "unknown_setting"),
        ("port", 0, 422, "config_invalid"),
        ("port", "80; rm", 422, "config_invalid"),
        ("auth_mode", "nobody", 422, "config_invalid"),
        ("origins", [[["deep"]]], 422, "config_invalid"),
        ("vault", "/no/such/folder", 422, "no_folder"),
        ("vault", "/etc", 422, "config_invalid"),
        ("host", "203.0.113.7", 422, "no_such_address"),
        ("session_idle_minutes", -1, 422, "config_invalid"),
        ("model", "\ud800", 422, "config_invalid"),
    ],
)
async def test_what_cannot_be_changes_nothing(
    configured: Computer, owner: httpx2.AsyncClient, name: str, value: object, status: int, key: str
) -> None:
    before = configured.home.config.read_bytes()
    answer = await owner.put(f"/api/config/{name}", content=json.dumps({"value": value}), headers=JSON)
    assert (answer.status_code, answer.json()["key"]) == (status, key)
    assert configured.home.config.read_bytes() == before
    if status == 404:
        assert (await owner.delete(f"/api/config/{name}")).status_code == 404


async def test_a_password_is_neither_shown_nor_replaced_by_what_is_shown(
    configured: Computer, owner: httpx2.AsyncClient
) -> None:
    shown = await setting(owner, "backup.repository")
    assert shown["is_masked"]
    assert "very-secret-word" not in (await owner.get("/api/config")).text
    answer = await owner.put("/api/config/backup.repository", json={"value": shown["value"]})
    assert (answer.status_code, answer.json()["key"]) == (422, "masked_value")
    assert "very-secret-word" in configured.home.config.read_text()


async def test_the_environment_goes_over_the_file_and_says_so(owner: httpx2.AsyncClient) -> None:
    idle = await setting(owner, "session_idle_minutes")
    assert (idle["value"], idle["source"], idle["variable"]) == (12, "environment", "PARACHUTE_SESSION_IDLE_MINUTES")
    assert not idle["can_change"]


async def test_no_program_without_a_key_changes_a_setting(configured: Computer) -> None:
    async with configured.client() as nobody:
        answer = await nobody.put("/api/config/trust_mode", json={"value": False})
    assert answer.status_code in (401, 403)
    assert "trust_mode" not in written(configured)
    made = httpx2.post(
        f"{configured.url}/api/pairing/codes", json={"scopes": ["chat:read,write"]}, timeout=60, **PLAIN
    ).json()
    with httpx2.Client(base_url=configured.url, timeout=60, **PLAIN) as browser:
        browser.post("/api/pairing/sign-in", json={"code": made["code"], "name": "family"}, headers=PAGE)
        assert browser.get("/api/config").status_code == 403
        assert browser.put("/api/config/trust_mode", json={"value": False}, headers=PAGE).status_code == 403


PAGE = {"x-parachute-console": "1"}
JSON = {"content-type": "application/json"}
