"""What holds for every command."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from parachute import __version__
from parachute.cli.main import application
from parachute.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

COMMANDS = (
    "start",
    "stop",
    "restart",
    "status",
    "logs",
    "config",
    "vault",
    "auth",
    "keys",
    "first-boot",
    "ask",
    "chat",
    "maintenance",
    "panic",
    "resume",
    "sandbox",
    "sessions",
    "agents",
    "hooks",
    "mcp",
    "modules",
    "events",
    "backup",
    "doctor",
    "setup",
    "daily",
    "brain",
    "service",
    "suggestions",
    "workspaces",
)
COSTLY = ("fastapi", "pydantic", "httpx2", "rich", "asyncio", "yaml", "http.client", "uvicorn", "claude_agent_sdk")


def test_help_names_every_command(parachute: Terminal) -> None:
    shown = parachute.ok("--help")
    listed = [line.split()[0] for line in shown.partition("Commands:")[2].splitlines() if line.strip()]
    assert sorted(listed) == sorted(COMMANDS)
    assert not parachute.home.exists(), "asking for help must leave nothing behind"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str) -> None:
    # In this process: a page of help does not depend on anything that a process of its own would bring.
    shown = CliRunner().invoke(application(), [command, "--help"], prog_name="parachute")
    assert shown.exit_code == 0
    usage, _, rest = shown.output.strip().partition("\n")
    assert usage.startswith(f"Usage: parachute {command}")
    assert rest.strip()[0].isupper(), "the first thing said is what the command does"


def test_version(parachute: Terminal) -> None:
    assert parachute.ok("--version") == f"parachute {__version__}\n"


def test_help_imports_nothing_costly() -> None:
    command = [sys.executable, "-X", "importtime", *Terminal.command("--help")[1:]]
    imported = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    names = {line.rpartition("|")[2].strip() for line in imported.splitlines()}
    assert "typer" in names
    assert not names.intersection(COSTLY)


@pytest.mark.parametrize(
    "arguments", [("strat",), ("config", "frobnicate"), ("start", "--prot", "1"), ("keys", "create")]
)
def test_a_wrong_usage_ends_with_2(parachute: Terminal, arguments: tuple[str, ...]) -> None:
    assert "Usage: parachute" in parachute.fails(*arguments, code=2)


def test_a_port_that_cannot_be_is_a_wrong_usage(parachute: Terminal) -> None:
    assert "65535" in parachute.fails("start", "--port", "70000", code=2)


def test_a_home_that_is_a_file_is_told_in_a_sentence(parachute: Terminal) -> None:
    parachute.home.write_text("")
    assert str(parachute.home) in parachute.fails("status")


def test_a_reader_that_leaves_is_no_disaster(parachute: Terminal) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = parachute.command("config", "--json")
    ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, env=parachute.environment)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (1, "")


def test_what_nobody_expected_is_a_sentence_and_a_file(parachute: Terminal, home: Home) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/chat"] = 200, {"nothing": "that this command knows"}
        said = parachute.fails("sessions", "list")
    assert "KeyError" in said
    assert str(home.logs / "cli.log") in said
    assert "Traceback" in (home.logs / "cli.log").read_text()
