"""Address of the model."""

import time
from pathlib import Path
from typing import Any

import pytest

from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.llm.gateway.credentials import CredentialSource
from parachute.llm.gateway.models import Provider
from parachute.llm.gateway.providers import choose
from tests.support.errors import raises
from tests.support.messages_api import MessagesAPI, text

from .conftest import Installation, agent, question
from .test_credentials import login

LOCAL = "http://127.0.0.1:11434"


@pytest.fixture
def home(folder: Path) -> Home:
    home = Home(folder / ".parachute")
    home.root.mkdir(mode=0o700)
    (folder / ".claude").mkdir()
    return home


def chosen(home: Home, environment: dict[str, str] | None = None, **settings: Any) -> Provider:
    source = CredentialSource(home, environment or {}, home.root.parent / ".claude")
    return choose(Settings(vault=home.root.parent / "vault", **settings), source, home)


def test_without_anything_the_model_on_this_machine(home: Home) -> None:
    provider = chosen(home)
    assert (provider.name, provider.chosen_because) == ("offline", "no credentials are configured")


def test_with_a_credential_anthropic(home: Home) -> None:
    provider = chosen(home, {"ANTHROPIC_API_KEY": "k"})
    assert (provider.name, provider.base_url) == ("anthropic", "https://api.anthropic.com")
    assert "ANTHROPIC_API_KEY" in provider.chosen_because


def test_an_address_without_a_credential_is_compatible(home: Home) -> None:
    assert chosen(home, base_url=LOCAL, model="llama3").model == "llama3"
    assert chosen(home, {"ANTHROPIC_BASE_URL": LOCAL}).name == "compatible"
    assert chosen(home, {"ANTHROPIC_BASE_URL": "http://a:1"}, base_url=LOCAL).base_url == LOCAL


def test_an_expired_login_never_falls_back(home: Home) -> None:
    (home.root.parent / ".claude" / ".credentials.json").write_text(login(seconds=-time.time()))
    assert chosen(home).name == "anthropic"


def test_what_is_said_goes_over_what_is_found(home: Home) -> None:
    key = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": LOCAL}
    assert chosen(home, key, provider="offline").name == "offline"
    assert chosen(home, key, provider="compatible").base_url == LOCAL
    assert chosen(home, key, provider="anthropic").base_url == LOCAL
    assert chosen(home, provider="anthropic").base_url == "https://api.anthropic.com"


def test_compatible_without_an_address(home: Home) -> None:
    with raises("no_base_url"):
        chosen(home, provider="compatible")


@pytest.mark.parametrize("address", ["localhost:1", "ftp://a", "http://", "http://a:99999", "http://[", "x"])
def test_an_address_that_is_none(home: Home, address: str) -> None:
    with raises("invalid_base_url"):
        chosen(home, {"ANTHROPIC_BASE_URL": address})


@pytest.mark.parametrize("provider", ["auto", "compatible"])
async def test_a_login_for_claude_never_goes_to_another_server(folder: Path, api: MessagesAPI, provider: str) -> None:
    installation = Installation(folder, {}, {"provider": provider, "base_url": api.url, "model": "llama3"})
    (installation.claude / ".credentials.json").write_text(login())
    await installation.open()
    try:
        api.default(text("Local."))
        endpoint = await installation.gateway.open("one")
        async with agent(endpoint) as client:
            assert (await client.post("/v1/messages", json=question())).status_code == 200
        (request,) = api.requests
        assert request.body["model"] == "llama3"
        assert not {"authorization", "x-api-key"} & request.headers.keys()
        assert (await installation.gateway.used_by("one")).dollars == 0
    finally:
        await installation.close()


async def test_a_contradiction_is_reported_by_status_and_subscription(folder: Path) -> None:
    installation = Installation(folder, {}, {"provider": "compatible"})
    await installation.open()
    try:
        status = await installation.gateway.status()
        assert status.provider is None
        assert "base_url" in status.because
        assert "needs the address" in ((await installation.gateway.subscription()).error or "")
    finally:
        await installation.close()


async def test_the_models_of_the_provider(installation: Installation) -> None:
    models = await installation.gateway.upstream.models(show_all=True)
    assert {model.family for model in models} == {"opus", "sonnet", "haiku"}
    assert all(model.created_at.endswith("Z") for model in models)


@pytest.mark.parametrize(("model", "listed"), [("qwen3", ["qwen3"]), (None, [])])
async def test_a_server_without_a_list_of_models_offers_the_one_in_force(
    folder: Path, api: MessagesAPI, model: str | None, listed: list[str]
) -> None:
    settings = {"provider": "compatible", "base_url": f"{api.url}/nothing", "model": model}
    installation = Installation(folder, {}, settings)
    await installation.open()
    try:
        models = await installation.gateway.upstream.models(show_all=False)
    finally:
        await installation.close()
    assert [entry.id for entry in models] == listed
    assert all(entry.created_at.endswith("Z") and entry.display_name for entry in models)


async def test_of_anthropic_a_missing_list_is_an_error(folder: Path, api: MessagesAPI) -> None:
    environment = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": f"{api.url}/nothing"}
    installation = Installation(folder, environment, {})
    await installation.open()
    try:
        with raises("upstream_refused", names="404"):
            await installation.gateway.upstream.models(show_all=False)
    finally:
        await installation.close()
