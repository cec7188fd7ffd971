"""Settings that earlier versions had: they are ignored where they are read, and cannot be set again."""

import os
from pathlib import Path

import pytest

from parachute.config.settings.home import Home
from parachute.config.settings.removed import REMOVED
from parachute.config.settings.rows import names
from parachute.config.settings.store import load, read_document, removed_settings, set_value, unset_value
from tests.support.errors import raises
from tests.support.terminal import Terminal

pytestmark = pytest.mark.process

OLD = "port: 4444\nmeaning:\n  enabled: false\n  folder: /models/table\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home whose settings an earlier version has written, and no setting from the environment of the tests."""
    for name in list(os.environ):
        if name.upper().startswith("PARACHUTE_"):
            monkeypatch.delenv(name)
    found = Home(tmp_path / ".parachute")
    found.root.mkdir()
    found.config.write_text(OLD)
    return found


def test_what_is_gone_is_no_setting() -> None:
    assert REMOVED.isdisjoint(names())


def test_the_file_of_an_earlier_version_is_understood(home: Home) -> None:
    settings = load(home)
    assert (settings.port, settings.meaning.enabled) == (4444, False)
    assert removed_settings(home) == {"meaning.folder": 4}
    # The others can be changed, and the line stays until it is taken out.
    assert set_value(home, "port", "5555").port == 5555
    assert "folder" in read_document(home)["meaning"]


def test_it_is_taken_out_by_its_name(home: Home) -> None:
    assert unset_value(home, "meaning.folder")[1] is True
    assert read_document(home) == {"port": 4444, "meaning": {"enabled": False}}
    assert removed_settings(home) == {}


@pytest.mark.parametrize(("name", "value"), [("meaning.folder", "/models"), ("meaning", "{folder: /models}")])
def test_it_cannot_be_set_again(home: Home, name: str, value: str) -> None:
    with raises("config_invalid", names=r"meaning\.folder"):
        set_value(home, name, value)
    assert home.config.read_text() == OLD


@pytest.mark.parametrize("text", ["meaning:\n  folders: /models\n", "folder: /models\n", "tls:\n  folder: /models\n"])
def test_what_is_unknown_stays_a_mistake(home: Home, text: str) -> None:
    home.config.write_text(text)
    with raises("config_invalid", names="folder"):
        load(home)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("PARACHUTE_MEANING__FOLDER", "/models"), ("PARACHUTE_MEANING", '{"folder": "/models", "enabled": false}')],
)
def test_the_environment_may_name_it(home: Home, monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    monkeypatch.setenv("PARACHUTE_PORT", "6666")
    settings = load(home)
    assert (settings.port, settings.meaning.enabled) == (6666, False)


def test_at_the_command_line_it_is_taken_out(parachute: Terminal) -> None:
    parachute.home.mkdir(mode=0o700)
    config = parachute.home / "config.yaml"
    config.write_text("port: 4444\nmeaning:\n  folder: /models\n")
    parachute.ok("config", "get", "port")
    parachute.fails("config", "set", "meaning.folder", "/other")
    parachute.ok("config", "unset", "meaning.folder")
    assert config.read_text() == "port: 4444\n"
