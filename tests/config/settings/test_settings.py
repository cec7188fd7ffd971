"""`config.yaml` and the environment over it: every mistake is a sentence with its place, and changes nothing."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from parachute.base.errors import ParachuteError
from parachute.config.settings.checking import ConfigError
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.settings.store import load, read_document, set_value, unset_value
from tests.support.bounds import without_bounds
from tests.support.errors import raises
from tests.support.waiting import SECONDS

pytestmark = pytest.mark.process


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An empty home, and no setting from the environment of the tests."""
    for name in list(os.environ):
        if name.upper().startswith("PARACHUTE_"):
            monkeypatch.delenv(name)
    folder = tmp_path / ".parachute"
    folder.mkdir()
    return Home(folder)


def test_every_number_has_a_smallest_and_a_largest_value() -> None:
    schema = Settings.model_json_schema()
    found = [*without_bounds(schema, schema["$defs"], "settings", set())]
    assert found == [], "`groups.values` has bounds"


def test_the_capabilities_of_the_specification_are_taken(home: Home) -> None:
    home.config.write_text('default_capabilities:\n  mcps:\n    - parachute\n  skills: "all"\n  agents: "all"\n')
    found = load(home).default_capabilities
    assert (found.mcps, found.skills, found.agents, found.plugins) == (["parachute"], "all", "all", "all")
    assert load(home).capabilities.read_home is False


MISTAKES = [
    ("default_capabilities:\n  skills: some\n", 2),
    ("capabilities:\n  read_home: maybe\n", 2),
    ("# first\nport: 80\nhots: x\n", 3),
    ("\n\nport: 70000\n", 3),
    ("port: 80\nauth_mode: sometimes\n", 2),
    ("offline:\n  idle_minutes: 3\n  context_tokens: few\n", 3),
    ("offline:\n  modle: x\n", 2),
    ("offline: yes\n", 1),
    ("hostnames: pi.local\n", 1),
    ("hostnames:\n  - 3\n", 1),
    ("port: 1\nbase_url: localhost\n", 2),
    ("daily_spending_limit: .nan\n", 1),
    ("session_idle_minutes: .inf\n", 1),
    ("vault: ''\n", 1),
    ("vault: ~no-such-user/x\n", 1),
    ("3: x\n", 1),
    ("_env_prefix: x\n", 1),
    ("port: 1\nport:\n\t- x\n", 3),
    ("a: [1, 2\n", 2),
    ("port: 1\n\0\n", 2),
    ("- a\n- b\n", 1),
]


@pytest.mark.parametrize(("text", "line"), MISTAKES)
def test_a_mistake_in_the_file_is_named_with_its_line(
    home: Home, text: str, line: int, snapshot: SnapshotAssertion
) -> None:
    home.config.write_text(text)
    with raises("config_invalid", names=re.escape(f"{home.config}, line {line}: ")) as caught:
        load(home)
    assert caught.value == snapshot


@pytest.mark.parametrize("text", ["[" * 1500, "port: 2024-13-45\n", "a: &a [*a, *a]\n"])
def test_text_that_the_reader_itself_fails_on(home: Home, text: str) -> None:
    home.config.write_text(text)
    with raises("config_invalid", names=r"config\.yaml"):
        load(home)


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "large", "not utf-8"])
def test_what_cannot_be_read_is_named(home: Home, kind: str, tmp_path: Path) -> None:
    if kind == "folder":
        home.config.mkdir()
    elif kind == "pipe":
        os.mkfifo(home.config)
    elif kind == "link":
        (tmp_path / "other").write_text("port: 1")
        home.config.symlink_to(tmp_path / "other")
    else:
        home.config.write_bytes(b"#" * 2_000_000 if kind == "large" else b"vault: \xff\n")
    with pytest.raises(ParachuteError, match=r"config\.yaml"):
        load(home)


def test_the_environment_goes_over_the_file(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.config.write_text("port: 4444\noffline:\n  context_tokens: 1024\n  idle_minutes: 7\n")
    monkeypatch.setenv("PARACHUTE_PORT", "5555")
    monkeypatch.setenv("PARACHUTE_OFFLINE__CONTEXT_TOKENS", "2048")
    monkeypatch.setenv("PARACHUTE_HOSTNAMES", '["pi.local"]')
    settings = load(home)
    assert settings.port == 5555
    assert (settings.offline.context_tokens, settings.offline.idle_minutes) == (2048, 7)
    assert settings.hostnames == ["pi.local"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PARACHUTE_PORT", "x"),
        ("parachute_port", "x"),
        ("PARACHUTE_HOSTNAMES", "pi.local"),
        ("PARACHUTE_OFFLINE", "x"),
        ("PARACHUTE_OFFLINE", '{"modle": 1}'),
        ("PARACHUTE_OFFLINE__CONTEXT_TOKENS", "few"),
        ("PARACHUTE_AUTH_MODE", "off"),
    ],
)
def test_a_mistake_in_the_environment_is_named(
    home: Home, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as caught:
        load(home)
    assert name.upper() in str(caught.value).upper()
    assert "line" not in str(caught.value)


@pytest.mark.parametrize("vault", ["", "/..", "/vault", "/../.."])
def test_vault_and_trust_lie_apart(home: Home, vault: str) -> None:
    home.config.write_text(yaml.safe_dump({"port": 1, "vault": f"{home.root}{vault}"}))
    with raises("config_invalid", names="line 2: vault: .*apart"):
        load(home)


def test_a_link_does_not_hide_that_they_are_the_same(home: Home, tmp_path: Path) -> None:
    (tmp_path / "Parachute").symlink_to(home.root)
    home.config.write_text(yaml.safe_dump({"vault": str(tmp_path / "Parachute")}))
    with raises("config_invalid", names="apart"):
        load(home)


def test_setting_and_unsetting(home: Home) -> None:
    assert set_value(home, "port", "4444").port == 4444
    assert set_value(home, "offline.context_tokens", "1024").offline.context_tokens == 1024
    assert set_value(home, "hostnames", "[a.local, b.local]").hostnames == ["a.local", "b.local"]
    assert set_value(home, "daily_spending_limit", "").daily_spending_limit is None
    assert home.config.stat().st_mode & 0o777 == 0o600
    assert load(home).port == 4444
    settings, was_there = unset_value(home, "offline.context_tokens")
    assert (settings.offline.context_tokens, was_there) == (4096, True)
    assert "offline" not in read_document(home)
    assert unset_value(home, "offline.context_tokens")[1] is False
    assert read_document(home)["port"] == 4444


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", "0"),
        ("", "1"),
        ("offline.", "1"),
        ("offline.x", "1"),
        ("..", "1"),
        ("port", "[" * 1500),
        ("vault", "."),
    ],
)
def test_a_value_that_cannot_be_changes_nothing(
    home: Home, name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home.root)
    home.config.write_text("# mine\nport: 4444\n")
    with pytest.raises(ConfigError):
        set_value(home, name, value)
    assert home.config.read_text() == "# mine\nport: 4444\n"
    assert {path.name for path in home.root.iterdir()} <= {"config.yaml", ".config.yaml.lock"}


def test_a_broken_file_is_not_overwritten(home: Home) -> None:
    home.config.write_text("port: [\n")
    with raises("config_invalid"):
        set_value(home, "port", "1")
    assert home.config.read_text() == "port: [\n"


_SETTING = """
import sys
from pathlib import Path
from parachute.config.settings.home import Home
from parachute.config.settings.store import set_value
for value in range(1000, 1030):
    set_value(Home(Path(sys.argv[1])), sys.argv[2], str(value))
"""


def test_two_programs_at_once_lose_nothing(home: Home) -> None:
    names = ("port", "offline.context_tokens")
    setting = [subprocess.Popen([sys.executable, "-c", _SETTING, str(home.root), name]) for name in names]
    assert [process.wait(SECONDS) for process in setting] == [0, 0]
    settings = load(home)
    assert (settings.port, settings.offline.context_tokens) == (1029, 1029)


def test_presets_of_hosts_are_set_one_by_one(home: Home) -> None:
    set_value(home, "network.presets.python", "[Index.example.org, nas.local:8443]")
    set_value(home, "network.hosts", "[preset:python, boat.example.org]")
    settings = load(home)
    assert settings.network.presets == {"python": ["index.example.org", "nas.local:8443"]}
    for name, value in {
        "network.hosts": "preset:node",
        "network.presets.Node": "[example.org]",
        "network.presets.node": "[localhost]",
        "network.presets": "{}",  # which the hosts name
    }.items():
        with pytest.raises(ConfigError):
            set_value(home, name, value)
    with raises("config_invalid", names=r"network\.presets\.node"):
        set_value(home, "network.presets.node", "example.org")
    unset_value(home, "network.hosts")
    unset_value(home, "network.presets.python")
    assert load(home).network.presets == {}


def test_the_word_off_is_a_word_where_a_setting_takes_it(home: Home) -> None:
    assert set_value(home, "curator.mode", "off").curator.mode == "off"
    assert set_value(home, "network.mode", "off").network.mode == "off"
    assert load(home).network.mode == "off"
    home.config.write_text("network: {mode: off}\n")
    assert load(home).network.mode == "off"
    with pytest.raises(ConfigError):
        set_value(home, "network.mode", "on")
