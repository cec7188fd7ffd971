"""`parachute keys` and `parachute auth`."""

import json
import time
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from parachute.security.keys.service import Keys
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

SECRET = "sk-ant-" + "x" * 40


def names(parachute: Terminal) -> list[str]:
    """The names of all keys."""
    keys = Keys(parachute.home)
    try:
        return [key.label for key in keys.list()]
    finally:
        keys.close()


@pytest.mark.long
def test_a_key_opens_until_it_is_revoked(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    made = parachute("keys", "create", "iPhone", "--scope", "daily:read,write", "--scope", "chat:read")
    assert made.code == 0
    secret = made.out.strip()
    key = Keys(home.root).authenticate(secret)
    assert key is not None
    assert [str(scope) for scope in key.scopes] == ["daily:read,write", "chat:read"]

    listed = parachute.ok("keys", "list", "--json")
    assert secret not in listed + parachute.ok("keys", "list") + (home.root / "keys.yaml").read_text()
    (entry,) = json.loads(listed)
    assert (entry["id"], entry["name"], entry["last_used_at"]) == (key.id, "iPhone", None)
    assert key.id in parachute.ok("keys", "list")

    parachute.ok("keys", "revoke", "iPhone")
    assert Keys(home.root).authenticate(secret) is None
    assert json.loads(parachute.ok("keys", "list", "--json")) == []
    assert parachute.screens == snapshot


def test_a_key_without_scopes_has_all_rights(parachute: Terminal) -> None:
    made = json.loads(parachute.ok("keys", "create", "Laptop", "--json"))
    assert made["scopes"] == ["*:read,write,admin"]
    assert made["key"].startswith("para_")


@pytest.mark.long
def test_the_last_key_with_admin_rights_goes_only_after_a_question(
    parachute: Terminal, snapshot: SnapshotAssertion
) -> None:
    parachute.ok("keys", "create", "Phone")
    parachute.ok("keys", "create", "Kitchen", "--scope", "daily:read")
    refused = parachute("keys", "revoke", "Phone")
    assert refused.code == 3
    with parachute.screen("keys", "revoke", "Phone") as screen:
        screen.until("[y/N]")
        screen.type("n\n")
        assert screen.end() == 1
    assert len(json.loads(parachute.ok("keys", "list", "--json"))) == 2
    with parachute.screen("keys", "revoke", "Phone") as screen:
        screen.until("[y/N]")
        screen.type("y\n")
        assert screen.end() == 0
    parachute.ok("keys", "create", "Tablet")
    parachute.ok("keys", "revoke", "Tablet", "--yes")
    assert [key["name"] for key in json.loads(parachute.ok("keys", "list", "--json"))] == ["Kitchen"]
    assert parachute.screens == snapshot


def test_two_keys_never_have_one_name(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    parachute.ok("keys", "create", "phone")
    parachute.fails("keys", "create", "phone", "--scope", "chat:read")
    assert names(parachute) == ["phone"]
    assert parachute.screens == snapshot


def test_a_scope_names_what_there_is(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    refused = parachute.fails("keys", "create", "x", "--scope", "nosuch:read")
    for known in ("brain", "chat", "daily", "suggestions", "workspaces"):
        assert known in refused
    assert names(parachute) == []
    assert parachute("keys", "create", "y", "--scope", "workspaces:admin").code == 0
    assert parachute.screens == snapshot


def test_a_new_key_comes_with_the_way_to_the_computer(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    parachute("keys", "create", "one")
    # Written by hand: `config set` takes addresses of this machine only.
    home.config.write_text("host: 192.0.2.7\n")
    made = parachute("keys", "create", "two")
    assert len(made.out.split()) == 1
    with parachute.screen("keys", "create", "three") as screen:
        screen.until("http://192.0.2.7:3333")
        screen.until("▀")
        assert screen.end() == 0
    assert parachute.screens == snapshot


def test_wrong_keys_are_refused(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    parachute.fails("keys", "create", "x", "--scope", "daily:fly")
    parachute.fails("keys", "create", "")
    parachute.fails("keys", "revoke", "x")
    assert names(parachute) == []
    assert parachute.screens == snapshot


def test_a_broken_file_of_keys_is_told_with_its_line(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    (home.root / "keys.yaml").write_text("api_keys:\n- nonsense\n")
    (home.root / "keys.yaml").chmod(0o600)
    parachute.fails("keys", "list")
    assert "keys.yaml, line 2" in parachute.fails("auth", "status", "--json")
    assert parachute.screens == snapshot


def test_without_credentials_the_offline_model_answers(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    status = json.loads(parachute.ok("auth", "status", "--json"))
    assert (status["provider"], status["credential"], status["auth_mode"], status["keys"]) == (
        "offline",
        None,
        "remote",
        0,
    )
    parachute.ok("auth", "status")
    assert parachute.screens == snapshot


def test_a_credential_that_lies_in_the_vault_is_told_as_ignored(
    parachute: Terminal, snapshot: SnapshotAssertion
) -> None:
    folder = Path(parachute.environment["HOME"]) / "Parachute/.claude"
    folder.mkdir(parents=True)
    (folder / ".credentials.json").write_text("{}")
    shown = parachute("auth", "status")
    assert shown.code == 0
    assert parachute.screens == snapshot


def test_the_source_of_a_credential_is_shown_and_never_the_credential(
    parachute: Terminal, snapshot: SnapshotAssertion
) -> None:
    parachute.ok("keys", "create", "x")
    shown = parachute("auth", "status", "--json", ANTHROPIC_API_KEY=SECRET)
    status = json.loads(shown.out)
    assert status["credential"]["source"] == "ANTHROPIC_API_KEY"
    assert (status["provider"], status["keys"]) == ("anthropic", 1)
    plain = parachute("auth", "status", ANTHROPIC_API_KEY=SECRET)
    assert SECRET not in shown.out + shown.err + plain.out + plain.err
    assert parachute.screens == snapshot


def test_an_expired_login_is_told(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    folder = Path(parachute.environment["HOME"]) / ".claude"
    folder.mkdir()
    login = {"accessToken": SECRET, "expiresAt": int(time.time() * 1000) - 60_000}
    (folder / ".credentials.json").write_text(json.dumps({"claudeAiOauth": login}))
    parachute("auth", "status")
    assert json.loads(parachute.ok("auth", "status", "--json"))["credential"]["expired"] is True
    assert parachute.screens == snapshot


def test_what_the_running_server_uses_is_told_where_it_differs(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/status"] = 200, {"provider": {"provider": "offline", "credential": None}}
        parachute("auth", "status")
        parachute("auth", "status", ANTHROPIC_API_KEY=SECRET)
    assert parachute.screens == snapshot
