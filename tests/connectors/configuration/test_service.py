"""`bots.yaml` and the tokens: read strictly, changed as a whole, never shown."""

import stat
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from parachute.base.errors import InvalidInput
from parachute.config.declared.file import VARIABLE
from parachute.config.settings.home import Home
from parachute.config.settings.store import set_value
from parachute.connectors.bots.models import ConfigurationShown
from parachute.connectors.configuration.models import ConfigurationChanges
from parachute.connectors.configuration.service import BotConfiguration
from parachute.connectors.configuration.tokens import BotTokens
from tests.config.declared.declaring import write
from tests.support.errors import raises

TOKEN = "123456789:AAFakeTokenOfATestThatNobodyElseKnows00"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A state directory."""
    tmp_path.chmod(0o700)
    return tmp_path


def changes(**fields: object) -> ConfigurationChanges:
    """Return changes as the app sends them."""
    return ConfigurationChanges.model_validate(fields)


def shown_of(bots: BotConfiguration) -> dict[str, Any]:
    """The settings as the app reads them."""
    return ConfigurationShown.of(bots.read(), bots.has_tokens()).model_dump()


def test_a_change_keeps_what_it_does_not_name(home: Path) -> None:
    bots = BotConfiguration(home)
    bots.change(changes(telegram={"enabled": True, "allowed_users": [4711, 4712]}, language="de"))
    bots.change(changes(telegram={"template": "family"}, matrix={"homeserver_url": "https://matrix.example.org"}))
    shown = shown_of(bots)
    assert shown["language"] == "de"
    assert (shown["telegram"]["enabled"], shown["telegram"]["template"]) == (True, "family")
    assert shown["telegram"]["allowed_users"] == [4711, 4712]
    assert shown["matrix"]["homeserver_url"] == "https://matrix.example.org"


def test_the_app_gets_back_what_it_may_send(home: Path) -> None:
    bots = BotConfiguration(home)
    shown = shown_of(bots)
    assert {name: shown[name]["dm_trust_level"] for name in ("telegram", "discord", "matrix")} == dict.fromkeys(
        ("telegram", "discord", "matrix"), "sandboxed"
    )
    again = {name: shown[name] for name in ("telegram", "discord", "matrix")}
    assert ConfigurationShown.of(bots.change(changes(**again)), bots.has_tokens()).model_dump() == shown


@pytest.mark.parametrize(
    "wrong",
    [
        {"telegram": {"dm_trust_level": "direct"}},
        {"telegram": {"group_trust_level": "vault"}},
        {"telegram": {"dm_trust_level": "whatever"}},
        {"telegram": {"allowed_users": ["Ada Lovelace"]}},
        {"telegram": {"allowed_users": [True]}},
        {"telegram": {"template": "everything"}},
        {"telegram": {"daily_dollars": -1}},
        {"telegram": {"unknown": 1}},
        {"telegram": {"server_url": "file:///etc/passwd"}},
        {"notices": {"enabled": True, "quiet_from": "25:00"}},
        {"language": "fr"},
        {"signal": {"enabled": True}},
    ],
    ids=str,
)
def test_unknown_words_are_errors(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        changes(**wrong)


def test_legacy_words_of_a_sandbox_are_taken(home: Path) -> None:
    changed = BotConfiguration(home).change(changes(telegram={"dm_trust_level": "untrusted"}))
    assert changed.of("telegram").dm_trust_level == "sandboxed"


@pytest.mark.parametrize("text", ["telegram: {dm_trust_level: direct}", "telegram: [", "signal: {}", "a: &a [*a]"])
def test_a_file_that_is_wrong_is_an_error_and_stays(home: Path, text: str) -> None:
    (home / "bots.yaml").write_text(text)
    (home / "bots.yaml").chmod(0o600)
    bots = BotConfiguration(home)
    with pytest.raises(InvalidInput):
        bots.read()
    with pytest.raises(InvalidInput):
        bots.change(changes(language="de"))
    assert (home / "bots.yaml").read_text() == text


def test_tokens_are_apart_closed_and_in_no_answer(home: Path) -> None:
    bots = BotConfiguration(home)
    bots.change(changes(telegram={"bot_token": TOKEN}))
    assert bots.tokens.of("telegram") == TOKEN
    assert shown_of(bots)["telegram"]["has_token"] is True
    assert TOKEN not in str(shown_of(bots))
    assert TOKEN not in (home / "bots.yaml").read_text()
    assert stat.S_IMODE((home / "bot-tokens.json").stat().st_mode) == 0o600
    bots.change(changes(telegram={"bot_token": "", "enabled": True}))
    assert bots.tokens.of("telegram") == TOKEN
    bots.tokens.remove("telegram")
    assert shown_of(bots)["telegram"]["has_token"] is False


@pytest.mark.parametrize("wrong", ["two words", "\n", "ä" * 40, "x" * 5000, "a\x00b"])
def test_what_is_no_token_is_refused_without_repeating_it(home: Path, wrong: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        BotTokens(home).set("telegram", wrong)
    assert wrong.strip() == "" or wrong not in str(caught.value)
    assert not (home / "bot-tokens.json").exists()


def test_times_may_be_written_plainly(home: Path) -> None:
    (home / "bots.yaml").write_text(
        yaml.safe_dump({"language": "de"}) + "notices: {enabled: true, quiet_from: 21:30}\n"
    )
    (home / "bots.yaml").chmod(0o600)
    found = BotConfiguration(home).read()
    assert (found.notices.quiet_from, found.notices.quiet_until) == ("21:30", "07:00")


def test_what_holds_for_all_messengers_is_moved_to_the_settings_once(home: Path) -> None:
    (home / "bots.yaml").write_text(
        "language: de\nnotices: {enabled: true, quiet_from: 21:30}\ntelegram: {enabled: true}\n"
    )
    (home / "bots.yaml").chmod(0o600)
    bots = BotConfiguration(home)
    before = bots.read()
    bots.move()
    assert bots.read() == before
    assert yaml.safe_load((home / "bots.yaml").read_text()).keys() == {"discord", "matrix", "telegram"}
    moved = yaml.safe_load((home / "config.yaml").read_text())
    assert moved == {"messengers": {"language": "de", "notices": True, "quiet_from": "21:30"}}
    set_value(Home(home), "messengers.quiet_from", "23:00")
    bots.move()
    assert bots.read().notices.quiet_from == "23:00"


def test_what_the_system_declares_is_not_changed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(write(home / "declared.json", settings={"messengers": {"language": "de"}})))
    bots = BotConfiguration(home)
    with raises("declared"):
        bots.change(changes(language="en", telegram={"enabled": True}))
    assert not (home / "bots.yaml").exists()
    (home / "bots.yaml").write_text("language: en\n")
    (home / "bots.yaml").chmod(0o600)
    bots.move()
    assert bots.read().language == "de"
