"""Help, exit codes and errors of every command."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
from syrupy.assertion import SnapshotAssertion
from typer.testing import CliRunner

from parachute import __version__
from parachute.cli.command_table import SECTIONS
from parachute.cli.help import summary
from parachute.cli.main import application
from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

pytestmark = pytest.mark.process

COMMANDS = sorted(name for section in SECTIONS.values() for name in section)
COSTLY = ("fastapi", "pydantic", "httpx2", "rich", "asyncio", "yaml", "http.client", "uvicorn", "claude_agent_sdk")


def test_help_names_every_command(parachute: Terminal) -> None:
    shown = parachute.ok("--help").partition("Start here:")[2].partition("Examples:")[0]
    listed = re.findall(r"^  ([a-z-]+)  ", shown, re.MULTILINE)
    assert sorted(listed) == COMMANDS
    assert "..." not in shown
    assert not parachute.home.exists(), "asking for help must leave nothing behind"


def test_every_command_explains_itself() -> None:
    # In this process: a page of help does not depend on anything that a process of its own would bring.
    runner, program = CliRunner(), application()
    for command in COMMANDS:
        shown = runner.invoke(program, [command, "--help"], prog_name="parachute")
        assert shown.exit_code == 0, command
        usage, _, rest = shown.output.strip().partition("\n")
        assert usage.startswith(f"Usage: parachute {command}")
        assert rest.strip()[0].isupper(), f"{command}: the first thing said is what the command does"


def test_the_table_says_what_the_commands_say() -> None:
    commands = typer.main.get_group(application()).commands
    summaries = {name: text for section in SECTIONS.values() for name, text in section.items()}
    assert {name: summary(command) for name, command in commands.items()} == summaries


def test_version(parachute: Terminal) -> None:
    assert parachute.ok("version") == parachute.ok("--version") == f"parachute {__version__}\n"


@pytest.mark.parametrize(
    "arguments", [("chat",), ("daily", "search"), ("config", "set"), ("keys", "create"), ("logs",)]
)
def test_help_has_words_of_people(arguments: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(application(), [*arguments, "--help"], prog_name="parachute").output
    assert not re.search(r"[{}<>]|\[\[|list\[", shown), shown


@pytest.mark.parametrize(
    "word",
    [
        "uninstall",
        "login",
        "statsu",
    ],
)
def test_what_is_called_otherwise_elsewhere_leads_on(
    parachute: Terminal, word: str, snapshot: SnapshotAssertion
) -> None:
    refused = parachute.fails(word, code=2)
    if page := re.search(r"docs/[a-z]+\.md", refused):
        assert (Path(__file__).parents[2] / page[0]).exists()
    assert parachute.screens == snapshot


def test_the_shell_completes(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    script = parachute.ok("completion", "bash")
    program = Path(parachute.environment["HOME"]) / "parachute"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m parachute.cli "$@"\n')
    program.chmod(0o755)
    line = f'{script}\nCOMP_WORDS=(parachute confi); COMP_CWORD=1; _parachute_completion {program}; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True, env=parachute.environment)
    assert done.stdout.split() == ["config"]
    for shell, file in (("zsh", "_parachute"), ("fish", "parachute.fish")):
        assert file in parachute("completion", shell).err
    parachute.fails("completion", "tcsh", code=2)
    assert parachute.screens == snapshot


def test_help_imports_nothing_costly() -> None:
    command = [sys.executable, "-X", "importtime", *Terminal.command("--help")[1:]]
    imported = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    names = {line.rpartition("|")[2].strip() for line in imported.splitlines()}
    assert "typer" in names
    assert not names.intersection(COSTLY)


@pytest.mark.parametrize(
    "arguments", [("config", "frobnicate"), ("start", "--prot", "1"), ("start", "--port", "70000"), ("keys", "create")]
)
def test_a_wrong_usage_ends_with_2(
    parachute: Terminal, arguments: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    parachute.fails(*arguments, code=2)
    assert parachute.screens == snapshot


def test_a_home_that_is_a_file_is_told_in_a_sentence(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    parachute.home.write_text("")
    parachute.fails("status")
    assert parachute.screens == snapshot


def test_a_reader_that_leaves_is_no_disaster(parachute: Terminal) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = parachute.command("config", "--json")
    ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, env=parachute.environment)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (1, "")


def test_what_nobody_expected_is_a_sentence_and_a_file(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/chat"] = 200, {"nothing": "that this command knows"}
        parachute.fails("sessions", "list")
    assert "Traceback" in (home.logs / "cli.log").read_text()
    assert parachute.screens == snapshot
