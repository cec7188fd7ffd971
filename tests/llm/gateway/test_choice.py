"""Choosing where the model runs, as the set-up page does."""

import json
import os
import pwd
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.settings.store import load, set_value
from parachute.llm.gateway import choice as written
from parachute.llm.gateway.choice import ProviderChoice
from parachute.llm.gateway.credentials import CredentialSource
from parachute.llm.gateway.models import CredentialKind
from tests.support.errors import raises

from .asking import asked
from .conftest import KEY, TOKEN, Installation

SERVER = "http://192.168.1.5:11434"
OTHER_SERVER = "http://192.168.1.6:1234"
OTHERS = "sk-of-another-server"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    made = Home(tmp_path / "home")
    made.root.mkdir(mode=0o700)
    monkeypatch.setenv("PARACHUTE_VAULT", str(tmp_path / "vault"))
    return made


def stored(home: Home) -> Any:
    return json.loads(home.credentials.read_text()) if home.credentials.exists() else None


def source_of(home: Home, **environment: str) -> CredentialSource:
    """Return a source of credentials; `environment` is that of the starting shell."""
    return CredentialSource(home, environment, home.root / "nobody")


def write_choice(home: Home, choice: ProviderChoice, **environment: str) -> Settings:
    return written.write_choice(home, choice, source_of(home, **environment))


def sent(home: Home, settings: Settings, **environment: str) -> tuple[str, str | None]:
    """The server that is asked, and the secret that it gets."""
    return asked(home, settings, source_of(home, **environment))


@pytest.mark.parametrize(("secret", "field"), [(KEY, "api_key"), (f"  {TOKEN}\n", "oauth_token")])
def test_a_secret_of_anthropic_is_kept_privately(home: Home, secret: str, field: str) -> None:
    settings = write_choice(home, ProviderChoice("anthropic", secret))
    assert settings.provider == "anthropic"
    assert stored(home) == {field: secret.strip(), "for": "anthropic"}
    assert home.credentials.stat().st_mode & 0o777 == 0o600
    assert secret.strip() not in home.config.read_text()


def test_a_server_of_the_household(home: Home) -> None:
    settings = write_choice(home, ProviderChoice("compatible", OTHERS, SERVER, "qwen3"))
    assert (settings.provider, settings.base_url, settings.model) == ("compatible", SERVER, "qwen3")
    assert stored(home) == {"api_key": OTHERS, "for": SERVER}
    assert sent(home, settings) == (SERVER, OTHERS)
    settings = write_choice(home, ProviderChoice("compatible", None, SERVER, "qwen4"))
    assert sent(home, settings) == (SERVER, OTHERS), "another model of the same server needs no second entry"
    settings = write_choice(home, ProviderChoice("compatible", None, "http://192.168.1.6:1234"))
    assert (settings.base_url, settings.model) == ("http://192.168.1.6:1234", None)
    assert stored(home) is None, "what was entered for one server does not go to the next"


def test_back_to_anthropic_nothing_goes_to_the_server_of_before(home: Home) -> None:
    write_choice(home, ProviderChoice("compatible", None, SERVER))
    settings = write_choice(home, ProviderChoice("anthropic", KEY))
    assert settings.base_url is None
    write_choice(home, ProviderChoice("compatible", None, SERVER))
    assert stored(home) == {"api_key": KEY, "for": "anthropic"}, "kept, and sent to Anthropic only"
    assert write_choice(home, ProviderChoice("anthropic")).provider == "anthropic"
    assert write_choice(home, ProviderChoice("offline")).provider == "offline"
    assert stored(home) == {"api_key": KEY, "for": "anthropic"}


WRONG = [
    ProviderChoice("anthropic"),
    ProviderChoice("anthropic", ""),
    ProviderChoice("anthropic", "sk-ant-api03-a\nx-evil: b"),
    ProviderChoice("anthropic", "sk-ant-ü"),
    ProviderChoice("anthropic", "sk-ant-" + "x" * 5000),
    ProviderChoice("anthropic", OTHERS),
    ProviderChoice("anthropic", KEY, SERVER),
    ProviderChoice("compatible", KEY, SERVER),
    ProviderChoice("compatible", OTHERS),
    ProviderChoice("compatible", None, "ftp://x"),
    ProviderChoice("compatible", None, "http://x:99999"),
    ProviderChoice("compatible", None, "http://x?a=b"),
    ProviderChoice("compatible", None, "http://name:word@x"),
    ProviderChoice("compatible", None, "http://x:1/\n"),
    ProviderChoice("compatible", None, "http://x:1\\@y"),
    ProviderChoice("compatible", None, "http://ü:1"),
    ProviderChoice("offline", KEY),
    ProviderChoice("offline", None, SERVER),
]


@pytest.mark.parametrize("choice", WRONG, ids=range(len(WRONG)))
def test_what_cannot_be_changes_nothing(home: Home, choice: ProviderChoice, snapshot: SnapshotAssertion) -> None:
    set_value(home, "port", "4000")
    before = home.config.read_bytes()
    with pytest.raises(ParachuteError) as refusal:
        write_choice(home, choice)
    assert refusal.value == snapshot
    assert (choice.secret or "nothing") not in str(refusal.value)
    assert home.config.read_bytes() == before
    assert stored(home) is None


def test_what_was_entered_for_another_server_does_not_go_to_anthropic(home: Home) -> None:
    write_choice(home, ProviderChoice("compatible", OTHERS, SERVER))
    with raises("secret_missing"):
        write_choice(home, ProviderChoice("anthropic"))
    home.credentials.write_text(json.dumps({"api_key": OTHERS}))
    with raises("secret_missing"):
        write_choice(home, ProviderChoice("anthropic"))
    assert load(home).provider == "compatible"


def test_the_login_for_claude_is_enough_for_anthropic(home: Home) -> None:
    (home.root / "nobody").mkdir()
    (home.root / "nobody" / ".credentials.json").write_text(json.dumps({"claudeAiOauth": {"accessToken": TOKEN}}))
    settings = write_choice(home, ProviderChoice("anthropic"))
    assert sent(home, settings) == ("https://api.anthropic.com", TOKEN)
    settings = write_choice(home, ProviderChoice("compatible", None, SERVER))
    assert sent(home, settings) == (SERVER, None)


def test_what_the_computer_was_started_with_goes_to_no_server_that_is_chosen_later(home: Home) -> None:
    shell = {"ANTHROPIC_API_KEY": "sk-of-a-proxy"}
    with raises("credential_given", names="ANTHROPIC_API_KEY"):
        write_choice(home, ProviderChoice("compatible", None, SERVER), **shell)
    with raises("credential_given", names="ANTHROPIC_API_KEY"):
        write_choice(home, ProviderChoice("anthropic", KEY), **shell)
    assert stored(home) is None
    assert not home.config.exists()
    settings = write_choice(home, ProviderChoice("compatible", OTHERS, SERVER), **shell)
    assert sent(home, settings, **shell) == (SERVER, OTHERS)
    settings = write_choice(home, ProviderChoice("compatible", None, SERVER), ANTHROPIC_API_KEY=KEY)
    assert sent(home, settings, ANTHROPIC_API_KEY=KEY) == (SERVER, OTHERS)


def test_a_provider_that_is_declared_takes_a_secret_and_stays(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = home.root / "declared.json"
    user = pwd.getpwuid(os.geteuid()).pw_name
    declared.write_text(json.dumps({"version": 1, "user": user, "settings": {"provider": "anthropic"}}))
    declared.chmod(0o600)
    monkeypatch.setenv("PARACHUTE_DECLARED", str(declared))
    settings = write_choice(home, ProviderChoice("anthropic", KEY))
    assert sent(home, settings) == ("https://api.anthropic.com", KEY)
    for other in (ProviderChoice("compatible", OTHERS, SERVER), ProviderChoice("offline")):
        with raises("declared"):
            write_choice(home, other)
    assert stored(home) == {"api_key": KEY, "for": "anthropic"}


@pytest.mark.long
def test_cut_off_at_any_file_no_secret_goes_where_it_does_not_belong(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.llm.gateway.cutting", str(tmp_path / "home")]
    environment = {**os.environ, "PARACHUTE_VAULT": str(tmp_path / "vault")}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    for case in found:
        assert len(case["steps"]) > 2, case
        for step in case["steps"]:
            for server, secret in step["sent"]:
                assert secret is None or case["belongs"][secret] == server, (case["before"], case["choice"], step)
    assert len(found) == 16


@pytest.fixture
async def running(folder: Path) -> AsyncIterator[Installation]:
    """A gateway without any credentials."""
    made = Installation(folder, {}, {})
    await made.open()
    yield made
    await made.close()


async def test_a_running_gateway_takes_it_over(running: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    made = running
    monkeypatch.setenv("PARACHUTE_VAULT", str(made.folder / "vault"))
    assert made.gateway.upstream.provider.name == "offline"
    made.gateway.upstream.take_over(write_choice(made.home, ProviderChoice("anthropic", TOKEN)))
    provider = made.gateway.upstream.provider
    credential = made.gateway.upstream.credential(provider)
    assert credential is not None
    assert (provider.name, credential.kind, credential.secret) == ("anthropic", CredentialKind.OAUTH, TOKEN)
    made.gateway.upstream.take_over(write_choice(made.home, ProviderChoice("compatible", None, SERVER, "qwen3")))
    provider = made.gateway.upstream.provider
    assert (provider.name, provider.base_url, made.gateway.upstream.default_model) == ("compatible", SERVER, "qwen3")
    assert made.gateway.upstream.credential(provider) is None


@pytest.mark.parametrize("settings", [{"provider": "compatible"}, {}], ids=["compatible", "auto"])
async def test_a_request_under_way_gets_nothing_that_was_entered_since(
    folder: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    made = Installation(folder, {}, {**settings, "base_url": SERVER})
    monkeypatch.setenv("PARACHUTE_VAULT", str(folder / "vault"))
    made.home.credentials.write_text(json.dumps({"api_key": OTHERS}))
    before = made.gateway.upstream.provider
    before_credential = made.gateway.upstream.credential(before)
    assert before_credential is not None
    assert before_credential.secret == OTHERS
    # That server keeps the request, and answers 401 once another secret is there.
    for choice in (ProviderChoice("anthropic", KEY), ProviderChoice("compatible", "sk-new", OTHER_SERVER)):
        made.gateway.upstream.take_over(write_choice(made.home, choice))
        assert made.gateway.upstream.credential(before) is None
