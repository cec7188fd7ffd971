"""`parachute config` and `parachute vault`."""

import json
import stat
from pathlib import Path

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore


def written(parachute: Terminal) -> object:
    return yaml.safe_load((parachute.home / "config.yaml").read_text())


def test_a_setting_goes_to_the_file_and_back(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    parachute.ok("config", "get", "port")
    parachute.ok("config", "set", "port", "4444")
    parachute.ok("config", "get", "port")
    assert written(parachute) == {"port": 4444}
    assert stat.S_IMODE((parachute.home / "config.yaml").stat().st_mode) == 0o600
    parachute.ok("config", "unset", "port")
    parachute.ok("config", "get", "port")
    parachute.ok("config", "unset", "port")
    assert parachute.screens == snapshot


def test_dotted_names_reach_into_groups_and_leave_none_behind(parachute: Terminal) -> None:
    parachute.ok("config", "set", "port", "4444")
    parachute.ok("config", "set", "offline.idle_minutes", "2.5")
    assert written(parachute) == {"port": 4444, "offline": {"idle_minutes": 2.5}}
    assert parachute.ok("config", "get", "offline.idle_minutes", "--json") == "2.5\n"
    parachute.ok("config", "unset", "offline.idle_minutes")
    assert written(parachute) == {"port": 4444}


def test_lists_and_empty_values(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    parachute.ok("config", "set", "hostnames", "[box, box.lan]")
    assert json.loads(parachute.ok("config", "get", "hostnames")) == ["box", "box.lan"]
    parachute.ok("config", "set", "daily_spending_limit", "")
    parachute.ok("config", "get", "daily_spending_limit")
    assert parachute.screens == snapshot


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", "99999"),
        ("port", "abc"),
        ("backup.time", "25:00"),
        ("auth_mode", "none"),
        ("host", "example"),
        ("vault", "relative"),
        ("vault", "/etc"),
        ("hostnames", "[a"),
        ("prot", "1"),
        ("offline", "1"),
        ("port.number", "1"),
    ],
)
def test_a_wrong_value_changes_nothing(
    parachute: Terminal, home: Home, name: str, value: str, snapshot: SnapshotAssertion
) -> None:
    home.config.write_text("port: 4444\n")
    refused = parachute.fails("config", "set", name, value)
    assert ", line " not in refused, "the file does not say it, so no line of it is to blame"
    assert written(parachute) == {"port": 4444}
    assert parachute.screens == snapshot


def test_a_value_is_looked_at_also_where_a_variable_goes_over_it(
    parachute: Terminal, snapshot: SnapshotAssertion
) -> None:
    result = parachute("config", "set", "port", "abc", PARACHUTE_PORT="5555")
    assert result.code == 1
    assert not (parachute.home / "config.yaml").exists()
    assert parachute.screens == snapshot


def test_lists_grow_and_shrink_by_single_words(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    parachute.ok("config", "set", "hostnames", "evil.example")
    assert written(parachute) == {"hostnames": ["evil.example"]}
    parachute.ok("config", "add", "hostnames", "b.example", "evil.example")
    assert written(parachute) == {"hostnames": ["evil.example", "b.example"]}
    parachute.ok("config", "remove", "hostnames", "evil.example")
    assert written(parachute) == {"hostnames": ["b.example"]}
    parachute.ok("config", "remove", "hostnames", "evil.example")
    parachute.fails("config", "add", "port", "1")
    assert parachute.screens == snapshot


def test_what_is_added_goes_to_the_default(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    folder = parachute.environment["HOME"]
    parachute.ok("config", "add", "project_folders", "/srv/boats")
    assert json.loads(parachute.ok("config", "get", "project_folders")) == [f"{folder}/Projects", "/srv/boats"]
    parachute.ok("config", "set", "default_capabilities.mcps", "all")
    assert written(parachute)["default_capabilities"] == {"mcps": "all"}  # type: ignore[index]
    parachute.fails("config", "add", "default_capabilities.mcps", "notes")
    assert parachute.screens == snapshot


def test_the_hint_for_an_unknown_word_works(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    home.config.write_text("prot: 1\nsandbox:\n  cpu: 3\nport: 4444\n")
    parachute.fails("config")
    parachute.fails("config", "unset", "prot")
    parachute.ok("config", "unset", "sandbox.cpu")
    assert written(parachute) == {"port": 4444}
    parachute.fails("config", "unset", "nothing")
    assert parachute.screens == snapshot


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("port: 1\nprot: 2\n", "start"),
        ("# mine\n\noffline:\n  model: /m.gguf\n  idle_minutes: no\n", "config"),
        ("port: [1\n", "config unset port"),
        ("- port\n", "vault"),
        ("port: 1\n# \x07\n", "vault"),
    ],
)
def test_a_mistake_in_the_file_is_told_with_its_line(
    parachute: Terminal, home: Home, text: str, command: str, snapshot: SnapshotAssertion
) -> None:
    home.config.write_text(text)
    parachute.fails(*command.split())
    assert home.config.read_text() == text
    assert parachute.screens == snapshot


def test_the_table_tells_where_a_value_comes_from(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    parachute.ok("config", "set", "port", "4444")
    variables = {"PARACHUTE_MODEL": "opus", "PARACHUTE_OFFLINE__CONTEXT_TOKENS": "2048"}
    rows = {row["name"]: row for row in json.loads(parachute.ok("config", "--json", **variables))}
    assert (rows["port"]["value"], rows["port"]["default"], rows["port"]["source"]) == (4444, 3333, "file")
    assert (rows["model"]["value"], rows["model"]["source"]) == ("opus", "PARACHUTE_MODEL")
    assert rows["offline.context_tokens"]["source"] == "PARACHUTE_OFFLINE__CONTEXT_TOKENS"
    assert rows["host"]["source"] == "default"
    assert all(row["description"] for row in rows.values())
    lines = parachute.ok("config", **variables).splitlines()
    assert any(line.startswith("auth_mode ") and line.endswith("One of: remote, always, disabled.") for line in lines)
    assert any(line.split()[:3] == ["model", "opus", "PARACHUTE_MODEL"] for line in lines)
    assert parachute.screens == snapshot


def test_a_variable_that_goes_over_the_file_is_named(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    parachute.ok("config", "set", "port", "4444", PARACHUTE_PORT="5555")
    parachute.fails("config", PARACHUTE_PORT="x")
    assert parachute.screens == snapshot


def test_a_running_computer_is_told_of(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    parachute("config", "set", "model", "opus")
    with ScriptedCore(home):
        parachute("config", "set", "model", "sonnet")
        parachute("config", "set", "port", "4444")
        parachute("config", "set", "backup.repository", "/srv/backup")
        parachute("config", "set", "backup.time", "04:30")
    assert parachute.screens == snapshot


def test_the_table_shows_what_the_running_computer_was_started_with(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home) as core:
        core.environment = {"PARACHUTE_PORT": "1", "PARACHUTE_MODEL": "opus"}
        shown = parachute("config")
        rows = {row["name"]: row for row in json.loads(parachute.ok("config", "--json"))}
        same = json.loads(parachute.ok("config", "--json", PARACHUTE_PORT=str(core.port), PARACHUTE_MODEL="opus"))
    port = next(line.split()[1:4] for line in shown.out.splitlines() if line.startswith("port "))
    assert port == [str(core.port), "PARACHUTE_PORT", "(running)"]
    assert "port: `parachute restart` from this shell takes 3333 (default)." in shown.err
    assert (rows["model"]["running"], rows["model"]["value"]) == ("opus", None)
    assert [row["name"] for row in same if row["running"]] == []


def test_an_address_that_start_was_given_is_told_as_one_that_a_restart_keeps(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home) as core:
        core.environment = {"PARACHUTE_INSTEAD_OF_PORT": "3333"}
        kept = parachute("config")
        changed = parachute("config", PARACHUTE_PORT="4444")
    port = next(line.split()[1:5] for line in kept.out.splitlines() if line.startswith("port "))
    assert port == [str(core.port), "start", "--port", "(running)"]
    assert "port:" not in kept.err
    assert "port: `parachute restart` from this shell takes 4444" in changed.err


def test_the_vault_is_named_and_moves(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    parachute.ok("vault")
    parachute.fails("vault", "set", "notes/~odd: name")
    parachute.ok("vault", "set", "--create", "notes/~odd: name")
    parachute.ok("vault")
    parachute.ok("vault", "set", "~/Elsewhere", "--create")
    assert parachute.screens == snapshot


def test_a_vault_that_cannot_be(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    folder = Path(parachute.environment["HOME"])
    (folder / "file").write_text("")
    parachute.fails("vault", "set", "file")
    parachute.fails("vault", "set", "--create", "file/below")
    for trusted in (parachute.home / "v", folder):
        parachute.fails("vault", "set", str(trusted))
    assert not (parachute.home / "config.yaml").exists()
    assert parachute.screens == snapshot
