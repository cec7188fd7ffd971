"""A computer in the guest that is updated: wheels of newer versions, how far an update is, and requests all the while."""

import json
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tests.appliance.agents import Agents
from tests.appliance.booted import Booted
from tests.appliance.recipe import ENVIRONMENT, PYTHON, SOURCE, USER_ID
from tests.appliance.services import URL
from tests.support.waiting import wait_until

BUILD = """
import sys
from pathlib import Path
from tests.ops.updates import versions
from tests.ops.updates.wheels import built, changed
folder = Path.home() / "wheels"
folder.mkdir()
wheel = built(folder)
for name in sys.argv[1:]:
    (folder / name).mkdir()
    changed(wheel, folder / name, getattr(versions, name))
"""
ASKING = f"""
import socket, time
from pathlib import Path
from urllib.parse import urlsplit

at = urlsplit("{URL}")
refused, asked = Path.home() / "refused", 0
while (Path.home() / "asking").exists():
    try:
        with socket.create_connection((at.hostname, at.port), 120) as connection:
            # Whether somebody listens is asked far more often than answers are, which take the processor from the update.
            if asked % 10 == 0:
                connection.sendall(b"GET /api/health HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nConnection: close\\r\\n\\r\\n")
                while connection.recv(65536):
                    pass
    except ConnectionRefusedError:
        refused.touch()
    except OSError:
        pass  # cut off in the middle by the end of the program that was answering
    asked += 1
    with (Path.home() / "asked").open("a") as counted:
        counted.write(".")
    time.sleep(0.02)
"""
STAGE = f"""
import hashlib, subprocess, sys, zipfile
from pathlib import Path
from parachute.config.settings.home import Home
from parachute.ops.updates.versions import Versions
wheel = Path(sys.argv[1])
prefix = Versions(Home.named()).path(hashlib.sha256(wheel.read_bytes()).hexdigest()[:12])
subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(prefix)], check=True)
(packages,) = prefix.glob("lib/python*/site-packages")
zipfile.ZipFile(wheel).extractall(packages)
# Compiled already where nothing was changed, and recognized by what it says.
for compiled in Path("parachute").rglob("*.pyc"):
    target = packages / compiled
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(compiled.read_bytes())
(packages / "needed.pth").write_text("{ENVIRONMENT}/lib/python{PYTHON}/site-packages")
(prefix / "complete").write_text(str(wheel))
"""
_SECONDS = 300


class Updating(Agents):
    """The computer, and what its owner and the one who switches it off do."""

    def __init__(self, guest: Booted) -> None:
        super().__init__(guest.user)
        self._root = guest.root

    def make_wheels(self, *names: str) -> None:
        """Build the wheels of these versions."""
        self.run(f"cd {SOURCE} && {ENVIRONMENT}/bin/python -c {shlex.quote(BUILD)} {' '.join(names)}")

    def stage(self, name: str) -> None:
        """Put a version where staging finds it, which saves time and room: what it needs is where this one has it."""
        self.run(f"cd {SOURCE} && {ENVIRONMENT}/bin/python -c {shlex.quote(STAGE)} $(ls ~/wheels/{name}/*.whl)")

    def update(self, name: str, *options: str) -> dict[str, Any]:
        """Update to a version, and how it ended."""
        done = self.user.run(f"parachute update --json {' '.join(options)} --from $(ls ~/wheels/{name}/*.whl)")
        assert done.stdout.startswith("{"), done
        found: dict[str, Any] = json.loads(done.stdout).get("update", {})
        return found

    def back(self) -> dict[str, Any]:
        """Go back to the version before, and how it ended."""
        found: dict[str, Any] = json.loads(self.user.run("parachute update back --yes --json").stdout)["update"]
        return found

    def version(self) -> str:
        """The version that answers."""
        return str(json.loads(self.run(f"curl -sf --max-time 60 {URL}/api/health"))["version"])

    def columns(self) -> list[str]:
        """The columns of the table of conversations."""
        return self.selected("~/Parachute/.parachute/sessions.db", "SELECT name FROM pragma_table_info('sessions')")

    def selected(self, database: str, query: str) -> list[str]:
        """Return the result of a query of one column."""
        look = "import sqlite3, sys; print(*(row[0] for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2])), sep='\\n')"
        return self.run(f"python3 -c {shlex.quote(look)} {database} {shlex.quote(query)}").splitlines()

    def ended(self, phase: str) -> dict[str, Any]:
        """Wait until the update has come to an end."""
        situation: dict[str, Any] = {}

        def has_ended() -> bool:
            situation.update(json.loads(self.run("parachute update status --json")))
            return (situation["update"] or {}).get("phase") == phase and not situation["is_under_way"]

        # Asking the program each time would take the processor from what is waited for. Where it does not come, its logs say why.
        with suppress(subprocess.TimeoutExpired):
            self.user.run(_until(phase))
        what = f"the update is {phase}"
        wait_until(has_ended, what, lambda: f"{situation}\n{self.said()}", seconds=_SECONDS, seconds_between=0.5)
        update: dict[str, Any] = situation["update"]
        return update

    def reached(self, phase: str, *, step: str = "", kept: bool = False) -> None:
        """Wait for a phase, for a step of it, and with `kept` until the state of before is kept.

        Nobody is asked, which takes longer than some of them.
        """
        self.run(_until(phase, step, kept=kept))

    def fail_in(self, phase: str, name: str, *, kept: bool = True) -> None:
        """Let a version that was staged, and fails on demand, come as far as this phase, and with `kept` the state of before be kept."""
        self.update(name, "--unrehearsed", "--no-follow")
        if phase == "returning":
            self.reached("probation")
            self.run("touch Parachute/fail-now")
        self.reached(phase, kept=kept)

    def said(self) -> str:
        """Return the last lines of the logs."""
        return self.run(
            "tail -n 30 ~/.parachute/logs/update.log ~/.parachute/logs/core.log; journalctl --user -n 40 --no-pager"
        )

    def cut_off(self) -> None:
        """End the user's processes at once, and begin as a boot does: what is below /run is gone."""
        root = self._root
        root.check_output(f"systemctl kill --signal=KILL user@{USER_ID}.service; systemctl stop user@{USER_ID}.service")
        root.check_output(f"systemctl stop user-runtime-dir@{USER_ID}.service; systemctl start user@{USER_ID}.service")

    @contextmanager
    def never_refused(self) -> Iterator[None]:
        """Somebody asks all the while, over a connection each; none is refused."""
        self.run("rm -f ~/refused ~/asked; touch ~/asking")
        self.run(f"systemd-run --user --quiet --unit=asking python3 -c {shlex.quote(ASKING)}")
        try:
            yield
            assert len(self.run("cat ~/asked")) > 10
            assert self.user.run("test -e ~/refused").rc == 1
        finally:
            self.run("rm -f ~/asking; systemctl --user stop asking.service; true")

    @contextmanager
    def probation(self, minutes: float) -> Iterator[None]:
        """New versions are watched for so long."""
        self.run(f"parachute config set updates.probation_minutes {minutes}")
        try:
            yield
        finally:
            self.run("parachute config unset updates.probation_minutes")

    @contextmanager
    def unrehearsed(self) -> Iterator[None]:
        """A machine on which nothing can be rehearsed."""
        self._root.check_output("mv /usr/bin/bwrap /usr/bin/bwrap.away")
        try:
            yield
        finally:
            self._root.check_output("mv /usr/bin/bwrap.away /usr/bin/bwrap")

    @contextmanager
    def disk(self, name: str, size: str) -> Iterator[None]:
        """A disk of its own for a folder of the user's."""
        options = f"uid={USER_ID},gid={USER_ID},mode=700,size={size}"
        self.run(f"mkdir -p -m 700 {name}")
        self._root.check_output(f"mount -t tmpfs -o {options} tmpfs {self.home}/{name}")
        try:
            yield
        finally:
            self._root.check_output(f"umount --lazy {self.home}/{name}")
            self.run(f"rmdir --ignore-fail-on-non-empty {name}")

    @contextmanager
    def full(self, *names: str) -> Iterator[None]:
        """Leave no room on the disks of these folders."""
        for name in names:
            assert self.user.run(f"cat /dev/zero > {name}/fill").rc != 0
        try:
            yield
        finally:
            for name in names:
                self.run(f"rm {name}/fill")


def _until(phase: str, step: str = "", *, kept: bool = False) -> str:
    there = f'grep -q \'"phase": *"{phase}".*{step}\' ~/.parachute/updates/update.json'
    if kept:
        there += " && test -e ~/.parachute/updates/kept/complete"
    return f"timeout {_SECONDS} sh -c {shlex.quote(f'until {there}; do sleep 0.05; done')}"
