"""`parachute pair` and `parachute devices`."""

import json
import os

from tests.support.browser import Browser
from tests.support.server import Server
from tests.support.terminal import Terminal, screen


def ran(server: Server, *arguments: str) -> str:
    """Return the output of a command that has to succeed."""
    done = server.command(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_code_signs_in_and_the_browser_can_be_signed_out(server: Server, browser: Browser) -> None:
    made = json.loads(ran(server, "pair", "--name", "kitchen tablet", "--scopes", "chat:read", "--json"))
    assert made["url"] == f"{server.url}/#pair={made['code']}"
    assert made["scopes"] == ["chat:read"]
    assert browser.post("/api/pairing/sign-in", {"code": made["code"]}).json()["name"] == "kitchen tablet"
    (listed,) = [
        each for each in json.loads(ran(server, "devices", "list", "--json")) if each["name"] == "kitchen tablet"
    ]
    assert listed["scopes"] == ["chat:read"]
    assert "kitchen tablet" in ran(server, "devices", "list")
    assert "kitchen tablet" in ran(server, "devices", "revoke", listed["id"])
    assert browser.me()["signed_in"] is False


def test_what_only_this_machine_reaches_is_drawn_for_no_camera(server: Server) -> None:
    environment = {
        "HOME": str(server.folder),
        "PARACHUTE_HOME": str(server.home.root),
        "PATH": os.environ["PATH"],
        "TZ": "UTC",
    }
    with screen(Terminal.command("pair"), environment) as shown:
        assert shown.end() == 0
        assert "#pair=" in shown.seen
        assert "█" not in shown.seen
    assert "#pair=" in ran(server, "pair")


def test_a_scope_that_is_none_is_refused(server: Server) -> None:
    done = server.command("pair", "--scopes", "everything")
    assert done.returncode == 1
    assert "everything" in done.stderr
