"""`parachute config` and `parachute vault`."""

import json
import stat
from pathlib import Path

import pytest
import yaml

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore


def written(parachute: Terminal) -> object:
    return yaml.safe_load((parachute.home / "config.yaml").read_text())


def test_a_setting_goes_to_the_file_and_back(parachute: Terminal) -> None:
    assert parachute.ok("config", "get", "port") == "3333\n"
    assert "port is now 4444." in parachute.ok("config", "set", "port", "4444")
    assert parachute.ok("config", "get", "port") == "4444\n"
    assert written(parachute) == {"port": 4444}
    assert stat.S_IMODE((parachute.home / "config.yaml").stat().st_mode) == 0o600
    assert "port is now 3333." in parachute.ok("config", "unset", "port")
    assert parachute.ok("config", "get", "port") == "3333\n"
    assert "nothing has changed" in parachute.ok("config", "unset", "port")


def test_dotted_names_reach_into_groups_and_leave_none_behind(parachute: Terminal) -> None:
    parachute.ok("config", "set", "port", "4444")
    parachute.ok("config", "set", "offline.idle_minutes", "2.5")
    assert written(parachute) == {"port": 4444, "offline": {"idle_minutes": 2.5}}
    assert parachute.ok("config", "get", "offline.idle_minutes", "--json") == "2.5\n"
    parachute.ok("config", "unset", "offline.idle_minutes")
    assert written(parachute) == {"port": 4444}


def test_lists_and_empty_values(parachute: Terminal) -> None:
    parachute.ok("config", "set", "hostnames", "[box, box.lan]")
    assert json.loads(parachute.ok("config", "get", "hostnames")) == ["box", "box.lan"]
    parachute.ok("config", "set", "daily_spending_limit", "")
    assert parachute.ok("config", "get", "daily_spending_limit") == "\n"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("port", "99999", "port: a whole number from 1 to 65535, not 99999."),
        ("port", "abc", "port: a whole number from 1 to 65535, not 'abc'."),
        ("port", "-1", "port: a whole number from 1 to 65535, not -1."),
        ("daily_spending_limit", "-1", "daily_spending_limit: a number from 0 to 1000000000 or empty, not -1."),
        ("backup.time", "25:00", "backup.time: expected a time of the day, such as 06:30, not '25:00'."),
        ("auth_mode", "none", "auth_mode: remote, always or disabled, not 'none'."),
        ("offline.context_tokens", "1", "offline.context_tokens: a whole number from 512 to 131072, not 1."),
        ("host", "example", "this computer has no address example"),
        ("vault", "/nonexist/x", "there is no folder /nonexist/x"),
        ("vault", "relative", "not a whole path"),
        ("vault", "/etc", "/etc belongs to the system"),
        ("hostnames", "[a", "hostnames cannot be read"),
        ("prot", "1", "Did you mean port?"),
        ("offline", "1", "offline.model"),
        ("port.number", "1", "There is no setting"),
    ],
)
def test_a_wrong_value_changes_nothing(parachute: Terminal, home: Home, name: str, value: str, said: str) -> None:
    home.config.write_text("port: 4444\n")
    refused = parachute.fails("config", "set", name, value)
    assert said in refused
    assert ", line " not in refused, "the file does not say it, so no line of it is to blame"
    assert written(parachute) == {"port": 4444}


def test_a_value_is_looked_at_also_where_a_variable_goes_over_it(parachute: Terminal) -> None:
    result = parachute("config", "set", "port", "abc", PARACHUTE_PORT="5555")
    assert result.code == 1
    assert "port: a whole number" in result.err
    assert not (parachute.home / "config.yaml").exists()


def test_lists_grow_and_shrink_by_single_words(parachute: Terminal) -> None:
    parachute.ok("config", "set", "hostnames", "evil.example")
    assert written(parachute) == {"hostnames": ["evil.example"]}
    parachute.ok("config", "add", "hostnames", "b.example", "evil.example")
    assert written(parachute) == {"hostnames": ["evil.example", "b.example"]}
    parachute.ok("config", "remove", "hostnames", "evil.example")
    assert written(parachute) == {"hostnames": ["b.example"]}
    assert "nothing has changed" in parachute.ok("config", "remove", "hostnames", "evil.example")
    assert "is not a list" in parachute.fails("config", "add", "port", "1")


def test_what_is_added_goes_to_the_default(parachute: Terminal) -> None:
    folder = parachute.environment["HOME"]
    parachute.ok("config", "add", "project_folders", "/srv/boats")
    assert json.loads(parachute.ok("config", "get", "project_folders")) == [f"{folder}/Projects", "/srv/boats"]
    parachute.ok("config", "set", "default_capabilities.mcps", "all")
    assert written(parachute)["default_capabilities"] == {"mcps": "all"}  # type: ignore[index]
    assert "'all', not a list" in parachute.fails("config", "add", "default_capabilities.mcps", "notes")


def test_the_hint_for_an_unknown_word_works(parachute: Terminal, home: Home) -> None:
    home.config.write_text("prot: 1\nsandbox:\n  cpu: 3\nport: 4444\n")
    assert "`parachute config unset prot`" in parachute.fails("config")
    assert "`parachute config unset sandbox.cpu`" in parachute.fails("config", "unset", "prot")
    parachute.ok("config", "unset", "sandbox.cpu")
    assert written(parachute) == {"port": 4444}
    assert "There is no setting 'nothing'" in parachute.fails("config", "unset", "nothing")


@pytest.mark.parametrize(
    ("text", "said", "command"),
    [
        ("port: 1\nprot: 2\n", "line 2: prot: there is no such setting", "start"),
        ("port: 1\n\nprot: 2\n", "line 3: prot: there is no such setting", "config set model x"),
        ("# mine\n\noffline:\n  model: /m.gguf\n  idle_minutes: no\n", "line 5: offline.idle_minutes", "config"),
        ("port: [1\n", "line 2: This is not YAML", "config unset port"),
        ("- port\n", "line 1", "vault"),
        ("port: 1\n# \x07\n", "line 2: This is not YAML", "vault"),
    ],
)
def test_a_mistake_in_the_file_is_told_with_its_line(
    parachute: Terminal, home: Home, text: str, said: str, command: str
) -> None:
    home.config.write_text(text)
    refused = parachute.fails(*command.split())
    assert f"{home.config}, {said}" in refused
    assert home.config.read_text() == text


def test_the_table_tells_where_a_value_comes_from(parachute: Terminal) -> None:
    parachute.ok("config", "set", "port", "4444")
    variables = {"PARACHUTE_MODEL": "opus", "PARACHUTE_OFFLINE__CONTEXT_TOKENS": "2048"}
    rows = {row["name"]: row for row in json.loads(parachute.ok("config", "--json", **variables))}
    assert (rows["port"]["value"], rows["port"]["default"], rows["port"]["source"]) == (4444, 3333, "file")
    assert (rows["model"]["value"], rows["model"]["source"]) == ("opus", "PARACHUTE_MODEL")
    assert rows["offline.context_tokens"]["source"] == "PARACHUTE_OFFLINE__CONTEXT_TOKENS"
    assert rows["host"]["source"] == "default"
    assert all(row["description"] for row in rows.values())
    lines = parachute.ok("config", **variables).splitlines()
    assert lines[0].split() == ["Name", "Value", "From", "Meaning"]
    assert any(line.startswith("auth_mode ") and line.endswith("One of: remote, always, disabled.") for line in lines)
    assert any(line.split()[:3] == ["model", "opus", "PARACHUTE_MODEL"] for line in lines)


def test_a_variable_that_goes_over_the_file_is_named(parachute: Terminal) -> None:
    assert "PARACHUTE_PORT goes over it" in parachute.ok("config", "set", "port", "4444", PARACHUTE_PORT="5555")
    assert "The variable PARACHUTE_PORT" in parachute.fails("config", PARACHUTE_PORT="x")


def test_a_running_computer_is_told_of(parachute: Terminal, home: Home) -> None:
    assert parachute("config", "set", "model", "opus").err == ""
    with ScriptedCore(home):
        assert "`parachute restart`" in parachute("config", "set", "model", "sonnet").err
        assert "`parachute restart`" in parachute("config", "set", "port", "4444").err
        assert parachute("config", "set", "backup.repository", "/srv/backup").err == "", "it is read each time"
        assert "`parachute service install`" in parachute("config", "set", "backup.time", "04:30").err


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


def test_no_name_is_cut_on_a_narrow_terminal(parachute: Terminal) -> None:
    with parachute.screen("config") as screen:
        assert screen.end() == 0
        for row in json.loads(parachute.ok("config", "--json")):
            assert row["name"] in screen.seen


def test_the_vault_is_named_and_moves(parachute: Terminal) -> None:
    folder = Path(parachute.environment["HOME"])
    assert parachute.ok("vault") == f"{folder}/Parachute\n"
    assert "--create" in parachute.fails("vault", "set", "notes/~odd: name")
    assert parachute.ok("vault", "set", "--create", "notes/~odd: name") == f"{folder}/notes/~odd: name\n"
    assert parachute.ok("vault") == f"{folder}/notes/~odd: name\n"
    assert parachute.ok("vault", "set", "~/Elsewhere", "--create") == f"{folder}/Elsewhere\n"


def test_a_vault_that_cannot_be(parachute: Terminal) -> None:
    folder = Path(parachute.environment["HOME"])
    (folder / "file").write_text("")
    assert "is not a folder" in parachute.fails("vault", "set", "file")
    assert "is not a folder" in parachute.fails("vault", "set", "--create", "file/below")
    for trusted in (parachute.home / "v", folder):
        assert str(parachute.home) in parachute.fails("vault", "set", str(trusted))
    assert not (parachute.home / "config.yaml").exists()
