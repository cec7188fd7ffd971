"""`parachute-update`, run for real with two systems that only write down what is asked of them, and a supervisor at its protocol."""

import asyncio
import contextlib
import http.server
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from parachute_runner import processes

from parachute.base.errors import Conflict
from parachute.config.settings.home import Home
from parachute.ops.updates.journal import Journal
from parachute.ops.updates.models import Phase, Update
from parachute.ops.updates.orders import Orders
from parachute.ops.updates.starting import finish
from parachute.supervisor import control
from tests.nix.evaluation import evaluate
from tests.support.waiting import wait_until

pytestmark = pytest.mark.long

COREUTILS = ("cat", "env", "ln", "mkdir", "mkfifo", "mktemp", "readlink", "rm", "timeout")

NEW = """#!/bin/sh
echo "new $1" >> {root}/asked
if [ "$1" = test ]; then
  test ! -e {root}/switch-fails || exit 4
  export PATH=/usr/bin:/bin
  # The old server has ended: its state is kept, and the new one opens it.
  export PARACHUTE_HOME={home}
  grep -q Requires={keeper} {control}/parachute-core.service.d/50-update.conf || exit 5
  grep -q updates.keeping {control}/{keeper} || exit 5
  {python} -m parachute.ops.updates.keeping || exit 6
  {python} -c "{migrate}" || exit 7
  echo {new_prefix} > {root}/program
fi
"""
OLD = """#!/bin/sh
echo "old $1" >> {root}/asked
rm -f {root}/fails
echo {old_prefix} > {root}/program
# What a server does before it opens anything.
{python} -c "{finish}"
"""
MIGRATE = (
    "import sqlite3; c = sqlite3.connect('{vault}/.parachute/sessions.db', isolation_level=None); "
    "c.execute('INSERT INTO migrations VALUES (1)')"
)
FINISH = (
    "from pathlib import Path; from parachute.config.settings.home import Home; "
    "from parachute.ops.updates.starting import finish; finish(Home(Path('{home}')), Path('{vault}'))"
)
SYSTEMD_RUN = """#!/bin/sh
while [ "${1#--}" != "$1" ]; do shift; done
while true; do
  "$@"; code=$?
  if [ $code -le 1 ]; then exit $code; fi
done
"""
PROGRAMS = {
    "id": "#!/bin/sh\necho 0\n",
    "runuser": '#!/bin/sh\nshift 3\nexec "$@"\n',
    "systemctl": "#!/bin/sh\n[ $1 != is-active ]\n",
    "systemd-run": SYSTEMD_RUN,
    "python3": f'#!/bin/sh\nexec {sys.executable} "$@"\n',
    "parachute": "#!/bin/sh\n",
}


class Machine:
    """A machine with two systems; its folder is what stands in the place of / in the script."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = Home(root / "home" / ".parachute")
        self.vault = root / "vault"
        self.old, self.new = root / "store" / "old", root / "store" / "new"
        self.profile = root / "profile"
        for folder in (self.home.root, self.vault / ".parachute", root / "bin", root / "coreutils" / "bin"):
            folder.mkdir(parents=True)
        self._set(probation_minutes=0.02)
        with closing(sqlite3.connect(self.database)) as connection:
            connection.execute("CREATE TABLE migrations (name TEXT)")
        for name in COREUTILS:
            (root / "coreutils" / "bin" / name).symlink_to(str(shutil.which(name)))
        nix_env = f'#!/bin/sh\necho "nix-env $*" >> {root}/asked\nln -sfn $4 $2\n'
        for name, text in {**PROGRAMS, "nix-env": nix_env}.items():
            self._program(root / "bin" / name, text)
        self._system(self.old, OLD, Path(sys.prefix))
        self._system(self.new, NEW, root / "new-version")
        for name in ("profile", "current-system"):
            (root / name).symlink_to(self.old)
        (root / "program").write_text(sys.prefix)
        self._program(root / "parachute-update", self._script())

    def update(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the command as root types it."""
        command = ["bash", str(self.root / "parachute-update"), *words]
        return subprocess.run(command, capture_output=True, text=True, env={}, timeout=120, check=False)

    def begin(self) -> "subprocess.Popen[bytes]":
        """An update with a probation that lasts, until it is on it."""
        self._set(probation_minutes=10)
        process = subprocess.Popen(
            ["bash", str(self.root / "parachute-update"), "--unrehearsed", str(self.new)], env={}
        )
        journal = Journal(self.home.root)
        wait_until(lambda: (update := journal.read()) and update.phase is Phase.PROBATION, "it is on probation")
        self._set(probation_minutes=0.02)
        return process

    def kill_program(self) -> None:
        """Kill the user's program, as a machine without memory does."""
        os.kill(int((self.home.root / "updates" / "update.lock").read_text()), signal.SIGKILL)

    def asked(self) -> list[str]:
        """Return the calls of both systems and of Nix."""
        path = self.root / "asked"
        return path.read_text().replace(f"{self.root}/", "").splitlines() if path.exists() else []

    def last(self) -> Update:
        """The last update, as everybody reads it."""
        found = Journal(self.home.root).read()
        assert found is not None
        return found

    @property
    def database(self) -> Path:
        return self.vault / ".parachute" / "sessions.db"

    def migrations(self) -> int:
        with closing(sqlite3.connect(self.database)) as connection:
            return len(connection.execute("SELECT * FROM migrations").fetchall())

    def _set(self, **updates: float) -> None:
        self.home.config.write_text(json.dumps({"vault": str(self.vault), "updates": updates}))

    def _system(self, system: Path, text: str, prefix: Path) -> None:
        python = prefix / "bin" / "python3"
        if prefix.is_relative_to(self.root):
            for name in ("python", "python3"):
                self._program(prefix / "bin" / name, "#!/bin/sh\nexit 1\n")
        places = {"home": self.home.root, "vault": self.vault}
        text = text.format(
            root=self.root,
            python=sys.executable,
            migrate=MIGRATE.format(**places),
            finish=FINISH.format(**places),
            old_prefix=sys.prefix,
            new_prefix=prefix,
            keeper="parachute-keep-state.service",
            control=self.root / "run" / "user" / "0" / "systemd" / "user.control",
            **places,
        )
        self._program(system / "bin" / "switch-to-configuration", text)
        (system / "etc" / "parachute").mkdir(parents=True)
        (system / "etc" / "parachute" / "python").write_text(f"{python}\n")

    def _script(self) -> str:
        # Evaluated once: it takes seconds.
        folders = dict.fromkeys(("parachute", "python", "systemd", "util-linux"), "/evaluated")
        folders["coreutils"] = "/evaluated/coreutils"
        said = (
            '{ users.users.somebody = { isNormalUser = true; home = "/evaluated/home"; }; '
            'services.parachute = { enable = true; user = "somebody"; }; }'
        )
        script = str(evaluate(said, folders=folders)["services"]["parachute"]["updateScript"])
        for real, ours in (
            ("/evaluated", str(self.root)),
            ("/nix/var/nix/profiles/system", str(self.profile)),
            ("/nix/var/nix/gcroots", f"{self.root}/gcroots"),
            ("/nix/store/*)", f"{self.root}/store/*)"),
            ("readlink -f /run/current-system)", f"readlink -f {self.root}/current-system)"),
            ("/run/user/", f"{self.root}/run/user/"),
        ):
            assert real in script
            script = script.replace(real, ours)
        return f"#!/bin/bash\n{script}"

    @staticmethod
    def _program(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)


class Healthy(http.server.BaseHTTPRequestHandler):
    """A server that is well."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def machine() -> Iterator[Machine]:
    """A machine whose supervisor and server answer for whichever program the last switch has put in place."""
    root = Path(tempfile.mkdtemp(prefix="nx-", dir="/tmp"))
    found = Machine(root)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Healthy)
    loop = asyncio.new_event_loop()

    async def status(request: dict[str, Any]) -> dict[str, Any]:
        fails = (root / "fails").exists() and (root / "program").read_text().strip() != sys.prefix
        return {
            "program": (root / "program").read_text().strip(),
            "manager": "systemd",
            "supervisor_version": "0.1.0",
            "main_server_host": "127.0.0.1",
            "main_server_port": server.server_port,
            "main_server_healthy": True,
            "units": [{"name": "core", "restarts": 0, "state": "failed" if fails else "running"}],
        }

    supervisor = loop.run_until_complete(control.serve(found.home, status))
    threads = [threading.Thread(target=server.serve_forever), threading.Thread(target=loop.run_forever)]
    for thread in threads:
        thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        loop.call_soon_threadsafe(supervisor.close)
        loop.call_soon_threadsafe(loop.stop)
        for thread in threads:
            thread.join()
        loop.close()
        shutil.rmtree(root)


def test_a_system_stays_and_goes_back(machine: Machine) -> None:
    done = machine.update("--unrehearsed", str(machine.new))
    update = machine.last()
    assert (done.returncode, update.phase, update.problem) == (0, Phase.DONE, None), done.stderr
    assert machine.asked() == ["new test", "nix-env -p profile --set store/new", "new boot"], "a boot starts it at last"
    assert machine.profile.resolve() == machine.new
    assert machine.migrations() == 1

    (machine.root / "asked").unlink()
    done = machine.update("back")
    update = machine.last()
    assert (done.returncode, update.phase, update.problem) == (0, Phase.BACK, None), done.stderr
    assert machine.asked() == ["nix-env -p profile --set store/old", "old switch"]
    assert machine.migrations() == 0
    assert len(update.since) == 1, "what was written since is named"


def test_a_system_whose_computer_fails_goes_by_itself(machine: Machine) -> None:
    (machine.root / "fails").touch()
    done = machine.update("--unrehearsed", str(machine.new))
    update = machine.last()
    assert (done.returncode, update.phase) == (1, Phase.BACK), done.stderr
    assert "repeatedly" in str(update.problem)
    assert machine.asked() == ["new test", "old test"], "no boot has ever started it"
    assert machine.profile.resolve() == machine.old
    assert machine.migrations() == 0


def test_a_system_that_cannot_be_switched_to_goes_by_itself(machine: Machine) -> None:
    (machine.root / "switch-fails").touch()
    done = machine.update("--unrehearsed", str(machine.new))
    assert (done.returncode, machine.last().phase) == (1, Phase.BACK), done.stderr
    assert "status 4" in str(machine.last().problem)
    assert machine.asked() == ["new test", "old test"]


def test_what_did_not_pass_a_rehearsal_is_never_switched_to(machine: Machine) -> None:
    done = machine.update(str(machine.new))
    update = machine.last()
    assert (done.returncode, update.phase) == (1, Phase.REFUSED), done.stderr
    assert "bubblewrap is not installed" in str(update.problem)
    assert machine.asked() == []


def test_a_boot_must_bring_back_what_runs(machine: Machine) -> None:
    machine.profile.unlink()
    machine.profile.symlink_to(machine.new)
    done = machine.update(str(machine.new))
    assert done.returncode == 1
    assert "What runs is not what a boot starts" in done.stderr
    assert machine.asked() == []


def test_a_system_with_the_version_that_runs_is_for_nixos_rebuild(machine: Machine) -> None:
    done = machine.update(str(machine.old))
    assert done.returncode == 1
    assert "`nixos-rebuild switch`" in done.stderr
    assert machine.asked() == []
    assert Journal(machine.home.root).read() is None


def test_whoever_watches_is_killed_and_the_unit_takes_it_up(machine: Machine) -> None:
    process = machine.begin()
    machine.kill_program()
    assert process.wait(120) == 0
    assert machine.last().phase is Phase.DONE
    assert machine.asked() == ["new test", "nix-env -p profile --set store/new", "new boot"]


def test_the_power_is_cut_during_the_probation(machine: Machine) -> None:
    process = machine.begin()
    # First what would start it anew.
    family = [process.pid, *processes.descendants(process.pid)]
    for each in family:
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
    process.wait()
    assert machine.profile.resolve() == machine.old, "what a boot starts"
    finish(machine.home, machine.vault)  # as its server does
    update = machine.last()
    assert update.phase is Phase.BACK
    assert "during the probation" in str(update.problem)
    assert machine.migrations() == 0


async def test_the_user_is_told_what_root_types(machine: Machine) -> None:
    assert machine.update("--unrehearsed", str(machine.new)).returncode == 0
    with pytest.raises(Conflict) as refused:
        await Orders(machine.home).go_back()
    assert refused.value.key == "rooted"
    assert "parachute-update back" in str(refused.value.hint)
