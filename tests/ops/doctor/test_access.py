"""Checks of who could get in, and of what this computer shows to get in elsewhere."""

import json
import os
import socket
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from syrupy.assertion import SnapshotAssertion

from parachute.ops.doctor.open_files import MOST
from parachute.security.keys.cli_token import CliToken
from parachute.security.keys.document import parse_document
from parachute.security.keys.models import FULL_ACCESS, Key, Scope
from parachute.security.keys.service import Keys
from parachute.security.keys.store import KeyStore
from parachute.security.mcp_clients.models import Client, Grant, Limits, State, Token
from parachute.security.mcp_clients.store import ClientStore

from .machine import Machine, unchanged
from .test_services import install_units, status

pytestmark = pytest.mark.long


def make_key(machine: Machine, label: str = "phone") -> None:
    """A key that is in use."""
    keys = Keys(machine.home.root)
    keys.create(label)
    keys.close()


def test_a_computer_for_this_machine_only_is_fine(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.well("exposure")
    assert machine.results == snapshot


def test_one_for_others_is_fine_with_a_key(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.settings["host"] = "0.0.0.0"
    make_key(machine)
    machine.well("exposure")
    assert machine.results == snapshot


@pytest.mark.parametrize(
    ("settings", "level"),
    [
        ({"host": "0.0.0.0"}, "problem"),
        ({"host": "0.0.0.0", "auth_mode": "disabled"}, "problem"),
        ({"auth_mode": "disabled"}, "warning"),
        ({"trusted_proxies": ["127.0.0.1", "0.0.0.0/0"]}, "warning"),
        ({"trusted_proxies": ["::/0"]}, "warning"),
        ({"origins": ["*"]}, "warning"),
        ({"trusted_proxies": ["127.0.0.0/8", "10.0.0.7"], "origins": ["https://example.org"]}, "ok"),
    ],
)
def test_what_lets_strangers_in_is_noticed(
    machine: Machine, settings: dict[str, object], level: str, snapshot: SnapshotAssertion
) -> None:
    machine.settings |= settings
    found = machine.look("exposure")
    assert found.level == level, found
    assert machine.results == snapshot


def test_what_runs_counts_as_well_as_what_is_set(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.settings["auth_mode"] = "disabled"
    machine.accuses("exposure", supervisor=status(main_server_host="0.0.0.0"))
    assert machine.results == snapshot


def test_a_computer_that_waits_for_its_set_up_is_no_problem(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.settings["host"] = "0.0.0.0"
    machine.warns("exposure", supervisor=status(main_server_host="0.0.0.0"))
    assert machine.results == snapshot


def test_keys_in_use_are_fine(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.well("keys")
    make_key(machine)
    with unchanged(machine.home.root):
        machine.well("keys")
    assert machine.results == snapshot


def test_keys_that_nobody_uses_are_named(machine: Machine) -> None:
    long_ago = datetime.now(UTC) - timedelta(days=400)
    reading = (Scope.parse("daily:read"),)
    keys = (
        Key("a1", "old phone", "a" * 64, FULL_ACCESS, long_ago, long_ago + timedelta(days=1)),
        Key("b2", "never used", "b" * 64, reading, long_ago),
        Key("c3", "kitchen", "c" * 64, reading, long_ago, datetime.now(UTC)),
    )
    KeyStore(machine.home.root).change(lambda _: keys)
    found = machine.warns("keys")
    assert "old phone, never used." in found.message
    assert len(found.details) == 2
    assert "never used: never used, made " in found.details[1]


@pytest.mark.parametrize(("file", "listed"), [("keys.yaml", "api_keys"), ("browser-sessions.yaml", "browser_sessions")])
def test_keys_and_browsers_that_cannot_be_read_are_told_with_the_line(
    machine: Machine, file: str, listed: str, snapshot: SnapshotAssertion
) -> None:
    (machine.home.root / file).write_text(f"{listed}:\n- nonsense: 1\n")
    result = machine.look("keys")
    assert result.level == "problem"
    assert machine.results == snapshot


@pytest.mark.parametrize(("days", "level"), [(3, "ok"), (40, "warning")])
def test_assistants_that_do_not_ask_any_more_are_named(machine: Machine, days: int, level: str) -> None:
    machine.well("mcp-clients")
    given, today = datetime.now(UTC) - timedelta(days=days), datetime.now(UTC).date()
    client = Client("c", "Diary reader", ("https://a.example/",), given)
    limits = Limits(("daily-search",), ("*",), ("*",), ("*",), None, None, today + timedelta(days=1), 1000)
    token = Token("a" * 64, given)
    over = replace(limits, ends_on=today - timedelta(days=2))
    grants = tuple(
        Grant(name, client, "https://h/mcp", given, each, token, "b" * 64)
        for name, each in (("g1", limits), ("g2", over))
    )
    ClientStore(machine.home.root).save(State((client,), grants))
    found = machine.look("mcp-clients")
    assert found.level == level
    assert [line.split()[0] for line in found.details] == ([] if level == "ok" else ["g1"])


def test_assistants_that_cannot_be_read_are_told(machine: Machine) -> None:
    (machine.home.root / "mcp-clients.json").write_text('{"clients": [')
    machine.warns("mcp-clients")


def test_files_of_the_owner_alone_are_fine(machine: Machine) -> None:
    make_key(machine)
    machine.well("private-files")


def test_no_folder_of_trust_is_fine(machine: Machine) -> None:
    machine.well("private-files", entries=())


def test_open_files_are_closed(machine: Machine) -> None:
    make_key(machine)
    home = machine.home.root
    (home / "hooks").mkdir(mode=0o755)
    hook = home / "hooks" / "greet.sh"
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)
    (home / "keys.yaml").chmod(0o640)
    target = machine.folder / "mine.txt"
    target.write_text("")
    target.chmod(0o644)
    (home / "link").symlink_to(target)
    home.chmod(0o755)
    found = machine.accuses("private-files")
    assert {line.rpartition(":")[0] for line in found.details} == {
        str(home),
        str(hook.parent),
        str(hook),
        str(home / "keys.yaml"),
    }
    assert found.fix is not None
    assert found.fix.apply() == "4 were still open, and are closed."
    assert [oct(path.stat().st_mode & 0o777) for path in (home, hook, home / "keys.yaml")] == [
        "0o700",
        "0o700",
        "0o600",
    ]
    assert oct(target.stat().st_mode & 0o777) == "0o644"
    assert parse_document((home / "keys.yaml").read_bytes(), home)
    machine.well("private-files")
    assert found.fix.apply() == "All of them are private already."
    machine.well("private-files")


def test_files_that_only_their_folder_closes_are_closed_too(machine: Machine, snapshot: SnapshotAssertion) -> None:
    (machine.home.root / "hooks.yaml").write_text("hooks: []\n")
    (machine.home.root / "hooks.yaml").chmod(0o644)
    found = machine.warns("private-files")
    assert found.fix is not None
    found.fix.apply()
    machine.well("private-files")
    assert machine.results == snapshot


def test_changes_of_agents_keep_the_permissions_of_their_project(machine: Machine) -> None:
    upper = machine.home.views / "a-session" / "upper"
    upper.mkdir(parents=True, mode=0o700)
    (upper / "plan.md").write_text("")
    (upper / "plan.md").chmod(0o644)
    machine.well("private-files")
    machine.home.views.chmod(0o755)
    found = machine.warns("private-files")
    assert found.fix is not None
    found.fix.apply()
    machine.well("private-files")
    assert oct((upper / "plan.md").stat().st_mode & 0o777) == "0o644"


def test_a_socket_and_what_is_closed_to_its_owner_end_no_fix(machine: Machine) -> None:
    locked = machine.home.root / "a-folder"
    locked.mkdir()
    locked.chmod(0o055)
    path = machine.home.root / "open.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        path.chmod(0o755)
        found = machine.warns("private-files")
        assert found.fix is not None
        assert found.fix.apply() == "2 were still open, and are closed."
    assert (locked.stat().st_mode & 0o777, path.stat().st_mode & 0o777) == (0, 0o700)


def test_sockets_that_sandboxes_reach_as_another_user_stay_open_to_them(
    machine: Machine, snapshot: SnapshotAssertion
) -> None:
    path = machine.home.run / "model.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        path.chmod(0o666)
        machine.well("private-files")
    machine.home.run.chmod(0o755)
    machine.warns("private-files")
    assert machine.results == snapshot


def test_files_that_were_not_looked_at_are_told(machine: Machine, snapshot: SnapshotAssertion) -> None:
    (one, *_) = machine.computer().entries
    machine.warns("private-files", entries=(one,) * MOST)
    assert machine.results == snapshot


def test_a_token_that_others_may_have_read_is_replaced(machine: Machine) -> None:
    token = CliToken(machine.home.root)
    before = token.obtain()
    token.path.chmod(0o644)
    found = machine.warns("private-files")
    assert found.fix is not None
    found.fix.apply()
    assert token.path.read_text().strip() != before
    assert not CliToken(machine.home.root).verify(before)
    machine.well("private-files")


def test_a_credential_that_others_may_have_read_is_to_be_made_anew(
    machine: Machine, snapshot: SnapshotAssertion
) -> None:
    machine.home.credentials.write_text('{"api_key": "sk-1"}')
    machine.home.credentials.chmod(0o644)
    machine.warns("private-files")
    assert machine.results == snapshot


def test_files_of_somebody_else_are_noticed(machine: Machine, snapshot: SnapshotAssertion) -> None:
    found = machine.accuses("private-files", uid=os.getuid() + 1)
    assert found.fix is None
    assert machine.results == snapshot


OF_CORE = {"source": "the login", "kind": "oauth", "expired": False, "problem": None, "ends_at": None}


def write_login(machine: Machine, seconds: float, **fields: object) -> Path:
    """A credential of `claude login` that is good for so long."""
    path = machine.folder / ".claude" / ".credentials.json"
    path.parent.mkdir(exist_ok=True)
    login = {"accessToken": "sk-ant-oat01-x", "expiresAt": int((time.time() + seconds) * 1000), **fields}
    path.write_text(json.dumps({"claudeAiOauth": login}))
    return path


def test_whether_notes_are_made_of_conversations_is_what_core_says(
    machine: Machine, snapshot: SnapshotAssertion
) -> None:
    memory: dict[str, object] = {"on": True, "hooks": ["summarise", "flush_memory"], "reason": None}
    machine.well("conversation-memory", memory=memory)
    machine.warns("conversation-memory", memory={**memory, "on": False, "reason": "There is no login."})
    machine.well("conversation-memory", memory={**memory, "on": False, "hooks": []})
    machine.skips("conversation-memory")
    assert machine.results == snapshot


def test_notes_that_modules_cannot_read_whole_are_named(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.well("notes", unread=[])
    machine.warns(
        "notes", unread=[{"path": f"Brain/entities/{n}.md", "problem": f"line {n}: This is not YAML"} for n in range(7)]
    )
    machine.skips("notes")
    assert machine.results == snapshot


def test_without_a_credential_the_model_of_this_machine_answers(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.well("credentials")
    assert machine.results == snapshot


def test_a_credential_that_lasts_is_fine_and_not_shown(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.home.credentials.write_text('{"api_key": "sk-secret"}')
    said = machine.well("credentials")
    assert "secret" not in said
    assert machine.results == snapshot


@pytest.mark.parametrize(("seconds", "level"), [(-60, "problem"), (3600, "warning"), (90 * 86400, "ok")])
def test_when_a_login_ends_is_told_before(machine: Machine, seconds: float, level: str) -> None:
    write_login(machine, seconds)
    assert machine.look("credentials").level == level


@pytest.mark.parametrize(("seconds", "level"), [(-60, "problem"), (3600, "warning"), (90 * 86400, "ok"), (None, "ok")])
def test_a_login_that_is_refreshed_ends_with_its_sign_in(machine: Machine, seconds: float | None, level: str) -> None:
    ends = {} if seconds is None else {"refreshTokenExpiresAt": int((time.time() + seconds) * 1000)}
    write_login(machine, -60, refreshToken="sk-ant-ort01-x", **ends)
    assert machine.look("credentials").level == level


def test_a_credential_in_the_vault_is_named(machine: Machine, snapshot: SnapshotAssertion) -> None:
    login = write_login(machine, 3600)
    machine.well("ignored-credentials")
    copy = machine.vault / ".claude" / ".credentials.json"
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(login.read_text())
    machine.warns("ignored-credentials")
    login.unlink()
    machine.warns("ignored-credentials")
    assert machine.results == snapshot


def test_variables_that_services_do_not_have_are_named(machine: Machine, snapshot: SnapshotAssertion) -> None:
    variables = {**machine.computer().environment, "ANTHROPIC_API_KEY": "sk-secret"}
    machine.well("ignored-credentials", environment=variables)
    install_units(machine)
    found = machine.warns("ignored-credentials", environment=variables)
    assert "sk-secret" not in f"{found}"
    assert machine.results == snapshot


def test_what_only_claude_code_would_use_is_named_where_nothing_else_is_there(machine: Machine) -> None:
    (machine.folder / ".claude.json").write_text('{"primaryApiKey": "sk-secret"}')
    (machine.folder / ".claude").mkdir()
    (machine.folder / ".claude" / "settings.json").write_text(
        '{"apiKeyHelper": "x", "env": {"ANTHROPIC_API_KEY": "y"}}'
    )
    assert len(machine.warns("ignored-credentials").details) == 3
    machine.home.credentials.write_text('{"api_key": "sk-1"}')
    machine.well("ignored-credentials")


def test_a_login_elsewhere_is_named(machine: Machine, snapshot: SnapshotAssertion) -> None:
    other = machine.folder / "other"
    other.mkdir()
    (other / ".credentials.json").write_text("{}")
    variables = {**machine.computer().environment, "CLAUDE_CONFIG_DIR": str(other)}
    machine.warns("ignored-credentials", environment=variables)
    assert machine.results == snapshot


def test_a_provider_without_a_credential_is_noticed(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.settings["provider"] = "anthropic"
    machine.accuses("credentials")
    assert machine.results == snapshot


def test_a_variable_of_this_shell_does_not_reach_services(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.settings["provider"] = "anthropic"
    variables = {**machine.computer().environment, "ANTHROPIC_API_KEY": "sk-secret"}
    machine.well("credentials", environment=variables)
    install_units(machine)
    machine.accuses("credentials", environment=variables)
    assert machine.results == snapshot


def test_a_provider_without_an_address_is_noticed(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.settings["provider"] = "compatible"
    machine.look("credentials")
    machine.settings["base_url"] = "http://127.0.0.1:11434"
    machine.well("credentials")
    assert machine.results == snapshot


def test_a_credential_that_cannot_be_read_is_noticed_and_not_shown(machine: Machine) -> None:
    machine.home.credentials.write_text('{"api_key": sk-secret')
    found = machine.look("credentials")
    assert found.level == "problem"
    assert "secret" not in f"{found}"


@pytest.mark.parametrize(
    ("changes", "level"),
    [
        ({}, "ok"),
        ({"limit_reached": "Today's spending limit of $20.00 is reached."}, "warning"),
        ({"credential": None}, "problem"),
        ({"credential": {**OF_CORE, "expired": True}}, "problem"),
        ({"credential": {**OF_CORE, "problem": "The login has ended."}}, "problem"),
        ({"credential": {**OF_CORE, "ends_at": "2020-01-01T00:00:00+00:00"}}, "problem"),
        ({"credential": {**OF_CORE, "ends_at": "2100-01-01T00:00:00+00:00"}}, "ok"),
        ({"provider": None, "because": "base_url is no address."}, "problem"),
        ({"provider": "offline", "credential": None}, "ok"),
    ],
)
def test_what_core_knows_goes_over_what_is_seen_from_here(
    machine: Machine, changes: dict[str, object], level: str
) -> None:
    # Core was started by a shell with a variable that this one does not have.
    told = {
        "provider": "anthropic",
        "because": "there is a credential",
        "limit_reached": None,
        "daily_spending_limit": 20.0,
    }
    credential = {**OF_CORE, "source": "ANTHROPIC_API_KEY", "kind": "api_key"}
    machine.settings["provider"] = "anthropic"
    assert machine.look("credentials", provider={**told, "credential": credential, **changes}).level == level
