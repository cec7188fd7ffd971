"""`parachute start`, `stop`, `restart` and `status`, with the real supervisor and the real core."""

import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.base.addresses import own_addresses
from parachute.cli.api import ask_supervisor
from parachute.config.settings.home import Home
from parachute.supervisor import pid_file
from tests.support.installation import PLAIN
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

pytestmark = [pytest.mark.long, pytest.mark.computer]

needs_core = pytest.mark.skipif(find_spec("parachute.server") is None, reason="there is no core in this build")
SECRET = "sk-ant-" + "x" * 40


@pytest.fixture
def port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        number: int = found.getsockname()[1]
    return number


@pytest.fixture
def starting(parachute: Terminal) -> Iterator[Terminal]:
    """The command; what it has started is ended."""
    yield parachute
    parachute.ok("stop")


def supervisor_of(parachute: Terminal) -> int:
    """The process of the supervisor that runs."""
    return int(Home(parachute.home).pid_file.read_text())


@needs_core
def test_a_computer_starts_tells_of_itself_and_ends(starting: Terminal, port: int) -> None:
    started = starting.ok("start", "--port", str(port))
    assert f"http://127.0.0.1:{port}" in started
    assert "the small model on this computer" in started
    assert 'parachute chat "hello"' in started
    assert "#pair=" not in started, "what is written to a file or a log signs nobody in"

    status = json.loads(starting.ok("status", "--json"))
    assert (status["running"], status["problem"]) == (True, None)
    assert status["supervisor"]["main_server_port"] == port
    assert "core" in [unit["name"] for unit in status["units"]]
    assert status["core"]["vault"] == f"{starting.environment['HOME']}/Parachute"
    assert "core  " not in starting.ok("status"), "what runs inside is for those who ask"
    shown = starting.ok("status", "--verbose")
    for word in ("Vault", "Model", "$0.00 of $20.00 today", "Sandbox", "core  ", "running"):
        assert word in shown
    assert json.loads(starting.ok("sessions", "list", "--json")) == []

    supervisor = supervisor_of(starting)
    family = [psutil.Process(supervisor), *psutil.Process(supervisor).children(recursive=True)]
    again = starting.ok("start")
    assert f"running already on http://127.0.0.1:{port}" in again
    assert supervisor_of(starting) == supervisor

    assert "supervisor, core" in starting.ok("stop")
    # Whoever adopted the supervisor may not have collected it yet: what is left of it runs no more.
    assert [one for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE] == []
    assert starting("status").code == 3


@needs_core
def test_at_a_terminal_the_first_start_shows_an_address_that_signs_in_once(starting: Terminal, port: int) -> None:
    with starting.screen("start", "--port", str(port)) as screen:
        assert screen.answer(lambda seen: "n" if "[y/N]" in seen or "[Y/n" in seen else None) == 0
        code = screen.seen.partition(f"http://127.0.0.1:{port}/#pair=")[2][:9]
    url = f"http://127.0.0.1:{port}/api/pairing/sign-in"
    assert httpx2.post(url, json={"code": code}, timeout=60, **PLAIN).json()["admin"] is True
    assert httpx2.post(url, json={"code": code}, timeout=60, **PLAIN).json()["key"] == "wrong_code"
    with starting.screen("restart") as screen:
        assert screen.answer(lambda seen: "n" if "[y/N]" in seen or "[Y/n" in seen else None) == 0
        assert "#pair=" not in screen.seen, "a browser is signed in"
    logs = Home(starting.home).logs
    assert not any(code in path.read_text() for path in logs.iterdir())


@needs_core
def test_a_restart_takes_settings_and_environment_as_they_are_now_and_keeps_the_address_of_the_start(
    starting: Terminal, port: int
) -> None:
    starting.ok("start", "--port", str(port))
    supervisor = supervisor_of(starting)
    starting.ok("config", "set", "daily_spending_limit", "7")
    for _ in range(2):  # what was kept once is kept again
        restarted = starting.ok("restart", ANTHROPIC_API_KEY=SECRET, ANTHROPIC_BASE_URL="http://127.0.0.1:9")
        assert f"http://127.0.0.1:{port}" in restarted
    assert "Claude, at http://127.0.0.1:9" in restarted
    assert supervisor_of(starting) != supervisor
    assert "of $7.00 today" in starting.ok("status")

    with socket.create_server(("127.0.0.1", 0)) as found:
        other = found.getsockname()[1]
    starting.ok("config", "set", "port", str(other))
    moved = starting("restart")
    assert f"http://127.0.0.1:{other}" in moved.out
    assert f"instead of {port}" in moved.err

    Home(starting.home).config.write_text("prot: 1\n")
    supervisor = supervisor_of(starting)
    assert "line 1: prot" in starting.fails("restart")
    assert supervisor_of(starting) == supervisor, "a mistake in the settings must not end what runs"


@needs_core
def test_credentials_are_in_no_environment(starting: Terminal, port: int) -> None:
    starting.ok("start", "--port", str(port), ANTHROPIC_API_KEY=SECRET, ANTHROPIC_BASE_URL="http://127.0.0.1:9")
    status = json.loads(starting.ok("status", "--json"))
    assert status["core"]["provider"]["credential"]["source"] == "ANTHROPIC_API_KEY"
    supervisor = psutil.Process(supervisor_of(starting))
    for process in (supervisor, *supervisor.children(recursive=True)):
        try:
            content = Path(f"/proc/{process.pid}/environ").read_bytes()
        except PermissionError:
            continue  # core lets no other process look, which is better still
        assert SECRET.encode() not in content


@needs_core
def test_in_the_foreground_ctrl_c_ends_everything(parachute: Terminal, port: int, snapshot: SnapshotAssertion) -> None:
    environment = {**parachute.environment, "ANTHROPIC_API_KEY": SECRET}
    command = parachute.command("start", "--foreground", "--port", str(port))
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stderr is not None
            assert f"http://127.0.0.1:{port}" in process.stderr.readline()
            # The control socket is there once the new program runs, which then starts core.
            wait_for_control(parachute, process)
            assert supervisor_of(parachute) == process.pid
            assert SECRET.encode() not in Path(f"/proc/{process.pid}/environ").read_bytes()
            parachute.ok("start", "--foreground")
            ask_supervisor(Home(parachute.home), "start")
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        finally:
            process.kill()
    assert parachute("status").code == 3
    assert parachute.screens == snapshot


def wait_for_control(parachute: Terminal, process: subprocess.Popen[str]) -> None:
    """Wait until the supervisor answers; it says nothing by itself when it does."""
    before = len(parachute.screens)
    while parachute("status").code == 3 and not Home(parachute.home).control_socket.exists():
        assert process.poll() is None
    # Nobody knows how often it was asked.
    del parachute.screens[before:]


@needs_core
def test_a_core_that_does_not_come_up_is_told_with_its_words(
    parachute: Terminal, port: int, snapshot: SnapshotAssertion
) -> None:
    folder = Path(parachute.environment["HOME"])
    (folder / "file").write_text("")
    Home(parachute.home).config.parent.mkdir(mode=0o700, exist_ok=True)
    Home(parachute.home).config.write_text(f"vault: {folder}/file/vault\n")
    parachute.fails("start", "--port", str(port))
    assert parachute("status").code == 3, "what did not start must not run on"
    parachute.ok("stop")
    assert parachute.screens == snapshot


def test_a_port_in_use_is_told(parachute: Terminal) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        # The rest depends on whether the command meets the supervisor while it ends, or after that.
        assert "Address already in use" in parachute.fails("start", "--port", str(taken.getsockname()[1]))
    assert parachute("status").code == 3


def test_an_open_address_needs_a_key_first(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    parachute.fails("start", "--host", "0.0.0.0")
    parachute.fails("start", "--foreground", PARACHUTE_HOST="0.0.0.0")
    assert not Home(parachute.home).pid_file.exists()
    assert parachute.screens == snapshot


def test_a_script_with_the_old_names_starts_on_no_other_vault(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    for command in ("start", "restart"):
        parachute.fails(command, VAULT_PATH="/elsewhere", PORT="3334")
    assert not parachute.home.exists()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        parachute.home.mkdir(mode=0o700)
        taken_port = str(taken.getsockname()[1])
        variables: dict[str, Any] = {"VAULT_PATH": "/elsewhere", "PARACHUTE_VAULT": str(parachute.home.parent / "v")}
        # It goes on as far as the port, which is in use.
        said = parachute.fails("start", PARACHUTE_PORT=taken_port, PORT="1", **variables)
        assert ("Address already in use" in said, "PARACHUTE_PORT or --port" in said) == (True, False)
    # The last one meets the supervisor while it ends, or after that.
    assert parachute.screens[:2] == snapshot


def test_nothing_runs(parachute: Terminal, snapshot: SnapshotAssertion) -> None:
    result = parachute("status")
    assert result.code == 3
    listed = parachute("status", "--json")
    assert (listed.code, json.loads(listed.out)["running"]) == (3, False)
    parachute.ok("stop")
    assert parachute.screens == snapshot


def test_a_supervisor_that_was_killed_leaves_nothing_that_looks_alive(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    home.pid_file.write_text(f"{os.getpid()}\n")
    with ScriptedCore(home):
        pass
    assert parachute("status").code == 3
    parachute.ok("stop")
    assert parachute.screens == snapshot


def test_a_core_that_is_down_is_shown_with_its_reason(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home) as core:
        core.state = "failed"
        result = parachute("status")
        assert result.code == 3
        core.state = "running"
        core.answers["GET", "/api/status"] = 500, {"detail": "It hurts."}
        parachute.fails("status")
        assert json.loads(parachute("status", "--json").out)["problem"] == "It hurts."
    assert parachute.screens == snapshot


def test_a_server_that_has_failed_is_started_again(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home) as core, pid_file.held(home):
        core.state = "failed"
        core.answers["GET", "/api/status"] = 200, {"vault": "/v", "provider": {"provider": "offline"}}
        said = parachute.ok("start")
        assert core.state == "running"
    assert "running already" not in said
    assert parachute.screens == snapshot


def test_what_waits_is_shown(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/status"] = (
            200,
            {"vault": "/v", "waiting": {"suggestions": 2, "modules": 1, "hooks": 0}},
        )
        parachute.ok("status")
    assert parachute.screens == snapshot


@needs_core
def test_the_addresses_to_type_elsewhere_are_shown(starting: Terminal, port: int) -> None:
    starting.ok("keys", "create", "phone")
    own = [address for address in own_addresses() if not (address.is_loopback or address.is_link_local)]
    started = starting.ok("start", "--host", "0.0.0.0", "--port", str(port))
    for shown in (started, starting.ok("status")):
        assert f"http://0.0.0.0:{port}" not in shown
        assert f"http://127.0.0.1:{port}" in shown
        networks = re.findall(r"Network +(http://\S+)", shown)
        assert bool(networks) == bool(own)
