"""`parachute pair` and `parachute devices`."""

import json
import os
import pty
import subprocess
import sys

from tests.support.browser import Browser
from tests.support.computer import Computer


def environment(computer: Computer) -> dict[str, str]:
    return {
        "HOME": str(computer.folder),
        "PARACHUTE_HOME": str(computer.home.root),
        "PATH": os.environ["PATH"],
        "TZ": "UTC",
    }


def ran(computer: Computer, *arguments: str) -> str:
    """Return the output of a command that has to succeed."""
    command = [sys.executable, "-m", "parachute.cli", *arguments]
    return subprocess.run(command, env=environment(computer), check=True, capture_output=True, text=True).stdout


def on_a_terminal(computer: Computer, *arguments: str) -> str:
    """Return the output of a command on a terminal."""
    process, descriptor = pty.fork()
    if process == 0:
        os.execve(sys.executable, [sys.executable, "-m", "parachute.cli", *arguments], environment(computer))
    seen = b""
    try:
        while part := os.read(descriptor, 65536):
            seen += part
    except OSError:  # Linux says so at the end
        pass
    assert os.waitpid(process, 0)[1] == 0
    os.close(descriptor)
    return seen.decode()


def test_a_code_signs_in_and_the_browser_can_be_signed_out(server: Computer, browser: Browser) -> None:
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


def test_it_is_drawn_on_a_terminal_alone(server: Computer) -> None:
    assert "█" in on_a_terminal(server, "pair")
    plain = ran(server, "pair")
    assert "█" not in plain
    assert "#pair=" in plain


def test_a_scope_that_is_none_is_refused(server: Computer) -> None:
    command = [sys.executable, "-m", "parachute.cli", "pair", "--scopes", "everything"]
    done = subprocess.run(command, env=environment(server), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "everything" in done.stderr
