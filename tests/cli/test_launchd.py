"""`parachute service` with launchd: its agent is a real supervisor, which a program in the place of `launchctl` starts and ends."""

import asyncio
import json
import os
import plistlib
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from parachute.config.settings.home import Home
from parachute.config.settings.store import set_value
from parachute.supervisor import control, launch_agent
from tests.support.computer import free_port
from tests.support.installation import PLAIN
from tests.support.terminal import Terminal
from tests.support.waiting import wait_until

from . import launchctl

pytestmark = pytest.mark.long

TARGET = f"gui/{os.getuid()}/{launch_agent.LABEL}"


class Mac:
    """A terminal on a machine with `launchctl`."""

    def __init__(self, parachute: Terminal, folder: Path) -> None:
        self.parachute = parachute
        self.folder = folder
        self.port = free_port()
        self.file = Path(parachute.environment["HOME"], "Library", "LaunchAgents", f"{launch_agent.LABEL}.plist")
        program = folder / "launchctl"
        program.write_text(f"#!{sys.executable}\n{Path(launchctl.__file__).read_text()}")
        program.chmod(0o755)
        parachute.environment["PATH"] = f"{folder}:{parachute.environment['PATH']}"
        parachute.ok("config", "set", "port", str(self.port))

    def asked(self) -> list[list[str]]:
        """Calls of `launchctl` since the last time, without those that only ask."""
        file = self.folder / "asked"
        lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        file.write_text("")
        return [line for line in lines if line[0] != "print"]

    def wait_for(self, host: str) -> None:
        """Wait until the computer has moved to this address."""
        wait_until(lambda: self.answers(host), f"it serves at {host}")

    def answers(self, host: str = "127.0.0.1") -> bool:
        """True if the computer serves."""
        try:
            return httpx2.get(f"http://{host}:{self.port}/api/health", timeout=60, **PLAIN).status_code == 200
        except httpx2.ConnectError:
            return False


@pytest.fixture
def mac(parachute: Terminal, home: Home, tmp_path: Path) -> Iterator[Mac]:
    folder = tmp_path / "a folder"
    folder.mkdir()
    made = Mac(parachute, folder)
    yield made
    (folder / "refuses").unlink(missing_ok=True)
    parachute("service", "uninstall")
    parachute("stop")


def test_it_is_installed_stopped_started_and_removed(mac: Mac) -> None:
    bootstrap = ["bootstrap", f"gui/{os.getuid()}", str(mac.file)]
    said = json.loads(mac.parachute.ok("service", "install", "--json"))
    assert said["installed"] == [str(mac.file)]
    assert mac.asked() == [["enable", TARGET], bootstrap]
    assert mac.answers()
    mac.parachute.ok("stop")
    assert not mac.answers()
    mac.parachute.ok("start")
    assert mac.answers()
    assert mac.asked() == [["kickstart", TARGET]]
    assert "starts when you log in" in mac.parachute.ok("service", "install")
    assert mac.asked() == [["bootout", TARGET], ["enable", TARGET], bootstrap]
    assert mac.answers()
    assert str(mac.file) in mac.parachute.ok("service", "uninstall")
    assert mac.asked() == [["bootout", TARGET]]
    assert not mac.answers()
    assert not mac.file.exists()
    assert mac.parachute.ok("service", "uninstall") == "No services are installed.\n"


def test_what_launchd_refuses_leaves_nothing(mac: Mac) -> None:
    (mac.folder / "refuses").write_text("bootstrap")
    said = mac.parachute.fails("service", "install")
    assert "launchctl bootstrap failed: Bootstrap failed: 5: Input/output error" in said
    assert not mac.file.exists()


def test_what_launchd_refuses_leaves_the_agent_before(mac: Mac) -> None:
    mac.parachute.ok("service", "install")
    before = mac.file.read_bytes()
    mac.parachute.ok("config", "set", "host", "127.0.0.2")
    (mac.folder / "refuses").write_text("bootstrap")
    assert "launchctl bootstrap failed" in mac.parachute.fails("service", "install")
    assert mac.file.read_bytes() == before
    (mac.folder / "refuses").unlink()
    mac.parachute.ok("start")
    assert mac.answers()


def test_another_address_holds_also_when_launchd_starts_it_as_before(mac: Mac, home: Home) -> None:
    mac.parachute.ok("service", "install")
    for host, other in (("127.0.0.2", "127.0.0.1"), ("127.0.0.1", "127.0.0.2")):
        listen_on(home, host)
        mac.wait_for(host)
        assert host in plistlib.loads(mac.file.read_bytes())["ProgramArguments"]
        # launchd has what the file said when it was loaded.
        mac.parachute.ok("stop")
        mac.parachute.ok("start")
        assert mac.answers(host)
        assert not mac.answers(other)


def test_an_address_that_fails_is_gone_from_the_file_as_well(mac: Mac, home: Home) -> None:
    mac.parachute.ok("service", "install")
    before = mac.file.read_bytes()
    with socket.create_server(("127.0.0.2", mac.port)):
        listen_on(home, "127.0.0.2")
        wait_until(lambda: "it listens on 127.0.0.1 as before" in log_of(home), "it is taken back")
        mac.wait_for("127.0.0.1")
    assert mac.file.read_bytes() == before


def listen_on(home: Home, host: str) -> None:
    """Have the supervisor start the server on another address, which the settings have."""
    set_value(home, "host", host)
    asyncio.run(control.ask(home, "listen_on", host=host))


def log_of(home: Home) -> str:
    return (home.root / "logs" / "supervisor.log").read_text()


def test_the_agent_of_another_computer_stays(mac: Mac, tmp_path: Path) -> None:
    mac.parachute.ok("service", "install")
    before = mac.file.read_bytes()
    mac.asked()
    another = str(tmp_path / "another")
    assert "is another computer's" in mac.parachute.fails("service", "install", PARACHUTE_HOME=another)
    assert mac.parachute.ok("service", "uninstall", PARACHUTE_HOME=another) == "No services are installed.\n"
    assert mac.file.read_bytes() == before
    assert mac.asked() == []
    assert mac.answers()


def test_beside_a_computer_that_runs_nothing_is_installed(mac: Mac) -> None:
    mac.parachute.ok("start")
    assert "is running already, but not as a service" in mac.parachute.fails("service", "install")
    assert not mac.file.exists()
    assert mac.asked() == []


def test_the_file_has_what_launchd_reads() -> None:
    home = Home(Path("/Users/a & b/<p>"))
    agent = plistlib.loads(launch_agent.render(home, "127.0.0.1", 3333))
    log = "/Users/a & b/<p>/logs/supervisor.log"
    assert agent == {
        "Label": "computer.parachute.supervisor",
        "ProgramArguments": [sys.executable, "-m", "parachute.supervisor", "--host", "127.0.0.1", "--port", "3333"],
        "EnvironmentVariables": {"PARACHUTE_HOME": "/Users/a & b/<p>"},
        "WorkingDirectory": "/",
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 10,
        "ExitTimeOut": 60,
        "ProcessType": "Interactive",
        "Umask": 0o077,
        "SoftResourceLimits": {"Core": 0},
        "HardResourceLimits": {"Core": 0},
        "StandardOutPath": log,
        "StandardErrorPath": log,
    }


@pytest.mark.parametrize("text", ["", "<plist>", "bplist00", "<plist version='1.0'><array/></plist>"])
def test_another_file_in_its_place_is_none_of_ours(
    text: str, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    launch_agent.path().parent.mkdir(parents=True)
    launch_agent.path().write_text(text)
    assert not launch_agent.is_for(home)
