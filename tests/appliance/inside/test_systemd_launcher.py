"""The launcher for systemd does what every launcher does, and what only it can do."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.supervisor.launcher_contract import *  # noqa: F403 - the tests
from tests.supervisor.launcher_contract import ECHO, ask, open_echo, unit_in
from tests.supervisor.launching import Launcher, launcher

UNITS = Path(os.environ["XDG_RUNTIME_DIR"], "systemd", "user")


@pytest.fixture
def units() -> Iterator[Launcher]:
    """A supervisor without core."""
    with launcher("systemd") as running:
        yield running
    assert not list(UNITS.glob("parachute-*.s*[!@].*")), "units were left behind"


def systemctl(*arguments: str) -> str:
    """The output of systemctl."""
    return subprocess.run(["systemctl", "--user", *arguments], capture_output=True, text=True, check=True).stdout


async def test_a_unit_is_a_service_of_systemd(units: Launcher) -> None:
    path = await open_echo(units, 2)
    process = (await ask(path)).split()[0].decode()
    assert systemctl("is-active", "parachute-echo.socket", "parachute-echo.service").split() == ["active", "active"]
    assert systemctl("show", "--property=MainPID", "--value", "parachute-echo.service").strip() == process
    await units.ask("close_unit", name="echo")
    assert systemctl("list-units", "--all", "--quiet", "parachute-echo*") == ""
    assert not list(UNITS.glob("parachute-echo*"))


async def test_the_next_supervisor_adopts_what_runs(units: Launcher) -> None:
    path = await open_echo(units, 100)
    process = (await ask(path)).split()[0]
    units.process.send_signal(signal.SIGKILL)
    units.process.wait()
    assert (await ask(path)).split()[0] == process, "it runs on without a supervisor"
    second = Launcher(units.folder, "systemd")
    try:
        unit = await second.unit("echo")
        assert (unit["state"], unit["process"]) == ("running", int(process))
        assert await open_echo_of(second) == path
        assert (await ask(path)).split()[0] == process, "opening it again does not start it anew"
    finally:
        second.close()
    assert not path.exists()


async def open_echo_of(launcher: Launcher) -> Path:
    """The same unit as asked for by another supervisor."""
    return await open_echo(launcher, 100)


async def test_what_others_named_like_ours_is_not_ended() -> None:
    """A backup, for instance, which has a unit of its own."""
    run = ["systemd-run", "--user", "--quiet", "--unit=parachute-somebody", "sleep", "600"]
    subprocess.run(run, check=True)
    try:
        with launcher("systemd") as running:
            assert (await running.ask("status"))["units"] == []
        assert systemctl("is-active", "parachute-somebody").strip() == "active"
    finally:
        systemctl("stop", "parachute-somebody")


async def test_another_instance_needs_no_reload(units: Launcher) -> None:
    paths = []
    reloads = []
    for name in ("one", "two", "three"):
        path = units.home.run / "sample" / name / "unit.sock"
        command = [sys.executable, "-ISc", ECHO.replace("sys.argv[1]", "1"), name]
        unit = {"name": f"sample@{name}", "command": command, "listen": [str(path)], "on_demand": True}
        await units.ask("open_unit", unit=unit)
        paths.append(path)
        reloads.append(systemctl("show", "--property=UnitsLoadTimestampMonotonic", "--value"))
    assert len(set(reloads)) == 1
    assert len({await ask(path) for path in paths}) == 3
    assert sorted(file.name for file in UNITS.glob("parachute-sample*")) == [
        "parachute-sample@.service",
        "parachute-sample@.socket",
    ]
    for name in ("one", "two", "three"):
        await units.ask("close_unit", name=f"sample@{name}")
    assert not any(path.exists() for path in paths)


async def test_every_rendered_unit_satisfies_systemd(units: Launcher) -> None:
    await open_echo(units, 1, watchdog_seconds=20.0, confinement={"read": ["/srv"], "write": ["/var/tmp"]})
    files = [str(file) for file in UNITS.glob("parachute-echo.s*") if file.is_file()]
    done = subprocess.run(["systemd-analyze", "--user", "verify", *files], capture_output=True, text=True, check=False)
    # It ends with 0 also where it does not know a line.
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


async def test_a_confined_unit_gets_its_socket_and_sees_nothing_else(units: Launcher) -> None:
    secret = Path.home() / "secret"
    secret.write_text("x")
    program = f"{ECHO}\nprint(os.path.exists({str(secret)!r}), os.path.exists({str(units.folder)!r}), flush=True)"
    path = await units.open(
        "held", sys.executable, "-ISc", program, "1", confinement={"read": [], "write": []}, watchdog_seconds=None
    )
    assert (await ask(path)).endswith(b" hello")
    await unit_in(units, "held", "listening")
    assert (units.home.logs / "held.log").read_text() == "False False\n"
    secret.unlink()


async def test_a_failed_unit_leaves_nothing_of_its_failure_when_it_is_closed(units: Launcher) -> None:
    path = await units.open("bad", "/bin/sh", "-c", "exit 3")
    await ask(path)
    await unit_in(units, "bad", "failed")
    await units.ask("close_unit", name="bad")
    assert systemctl("list-units", "--failed", "--quiet", "parachute-*") == ""
