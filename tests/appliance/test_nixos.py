"""The units that Nix renders, on a real systemd: nothing to say about them, confined enough, and a computer after a boot.

NixOS itself is not here: the guest is the usual Debian, with the files that NixOS would make laid over it.
"""

import base64
import io
import json
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from testinfra.host import Host

from tests.appliance.backend import SECONDS
from tests.appliance.guest import Guest
from tests.appliance.recipe import broker
from tests.nix.evaluation import EXAMPLES, evaluate
from tests.nix.rendering import write
from tests.support.waiting import wait_until

USR = (
    "bubblewrap",
    "coreutils",
    "curl",
    "findutils",
    "git",
    "gnugrep",
    "gnused",
    "podman",
    "restic",
    "systemd",
    "util-linux",
)
PLACES = dict.fromkeys(USR, "/usr") | {"parachute": "/usr/local", "python": "/opt/parachute/environment"}
"""Paths in the guest of what are packages on NixOS."""

UNITS = "/etc/systemd/user"
KEY = "sk-ant-api03-from-systemd"
CONFIGURATION = """{
  imports = [ %s ];
  services.parachute = {
    credentialsFile = "/etc/secret";
    firstBoot.enable = true;
    settings.agents.spare = false;
    workspaces.garden = { };
  };
}"""


@pytest.fixture(scope="module")
def machine(layers: tuple[Path, ...]) -> Iterator[Guest]:
    """A guest that has booted with the files of a configuration."""
    evaluated = evaluate(CONFIGURATION % (EXAMPLES / "server.nix"), folders=PLACES)
    folder = Path(tempfile.mkdtemp(prefix="nixos-", dir="/tmp"))
    try:
        write(evaluated, folder)
        broker(folder)
        (folder / "etc/secret").write_text(f"# from sops\nANTHROPIC_API_KEY={KEY}\n")
        _readable(folder)
        # Its user has the numbers of NixOS; the vault's folder is made by the example's own rule.
        with Guest((folder, *layers)) as booted:
            booted.root.check_output("mkdir -p /mnt/backup /etc/parachute && touch /etc/parachute/backup-password")
            yield booted
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def rendered() -> Any:
    """Everything that Nix can render, with the places of the guest."""
    return evaluate(EXAMPLES / "full.nix", folders=PLACES)


def test_systemd_has_nothing_to_say(machine: Guest, rendered: Any) -> None:
    _copy(machine.root, rendered, "/run/full")
    # Their scripts only have to be there; those of the machine itself stay.
    machine.root.check_output("cp --recursive --no-clobber /run/full/nix/. /nix/")
    for scope, which, kinds in (
        ("--user", machine.user, "service socket timer"),
        ("--system", machine.root, "service"),
    ):
        folder = f"/run/full/etc/systemd/{scope.strip('-')}"
        # Those that are switched off are links to nothing.
        files = f"$(find {folder} -maxdepth 1 -type f)"
        done = which.run(f"SYSTEMD_UNIT_PATH={folder}: systemd-analyze {scope} --man=no verify {files}")
        assert (done.rc, done.stdout, done.stderr) == (0, "", ""), kinds


def test_a_mistake_would_be_said(machine: Guest) -> None:
    """`verify` has status 0 whatever it says: a test that looked at that alone could not fail."""
    machine.user.check_output(
        "mkdir -p /tmp/wrong && printf '[Service]\\nExecStart=/bin/true\\nProtectSytem=strict\\n' > /tmp/wrong/x.service"
    )
    done = machine.user.run("systemd-analyze --user --man=no verify /tmp/wrong/x.service")
    assert "ProtectSytem" in done.stderr


@pytest.mark.parametrize("name", ["core", "supervisor"])
def test_it_is_confined_enough(name: str, machine: Guest) -> None:
    unit = f"{UNITS}/parachute-{name}.service"
    done = machine.user.run(f"systemd-analyze --user security --offline=true --threshold=25 --no-pager {unit}")
    assert done.rc == 0, done.stdout[-200:]
    assert f"Overall exposure level for parachute-{name}.service:" in done.stdout


def test_it_is_there_after_the_boot_without_anybody(machine: Guest) -> None:
    assert (
        machine.user.check_output("systemctl --user show dbus.service --property=Id --value") == "dbus-broker.service"
    )
    health = json.loads(
        machine.user.check_output("curl -sf --retry 60 --retry-all-errors http://127.0.0.1:3333/api/health")
    )
    assert health["status"] == "ok"
    assert _state(machine.user, "parachute-core.service") == "active"
    assert _state(machine.user, "parachute-supervisor.service") == "active"
    running = machine.user.check_output("systemctl --user show parachute-core.service --property=FragmentPath --value")
    assert running == f"{UNITS}/parachute-core.service", "the one of Nix, not one that the supervisor wrote"
    assert machine.user.check_output("find $XDG_RUNTIME_DIR/systemd/user -name 'parachute-core*'") == ""
    modes = machine.user.check_output("stat --format=%a ~/.parachute ~/.parachute/logs")
    assert modes.split() == ["700", "700"]


def test_nobody_else_gets_one(machine: Guest) -> None:
    machine.root.check_output("useradd --create-home --uid 1001 bob && systemctl start user@1001.service")
    as_bob = "setpriv --reuid=1001 --regid=1001 --clear-groups env HOME=/home/bob XDG_RUNTIME_DIR=/run/user/1001"
    for unit in (
        "parachute-core.socket",
        "parachute-core.service",
        "parachute-supervisor.service",
        "parachute-backup.timer",
    ):
        shown = machine.root.check_output(
            f"{as_bob} systemctl --user show {unit} --property=ConditionResult --property=ActiveState --value"
        )
        assert sorted(shown.split()) == ["inactive", "no"], unit


def test_the_credential_arrives_and_nobody_sees_it(machine: Guest) -> None:
    said = json.loads(machine.user.check_output("parachute auth status --json"))
    assert said["server"]["provider"] == "anthropic", said
    assert said["server"]["credential"]["source"] == "ANTHROPIC_API_KEY"
    process = machine.user.check_output("systemctl --user show parachute-core.service --property=MainPID --value")
    environment = machine.root.check_output(f"tr '\\0' '\\n' < /proc/{process}/environ")
    assert KEY not in environment
    assert machine.root.run(f"grep -r {KEY} /home/parachute /srv/parachute /var/log").rc == 1


def test_what_is_declared_holds(machine: Guest) -> None:
    refused = machine.user.run("parachute config set port 4000")
    assert refused.rc != 0
    assert "declared" in refused.stderr
    found = json.loads(machine.user.check_output("parachute config --json"))
    assert "/srv/parachute" in json.dumps(found)
    assert [each["slug"] for each in json.loads(machine.user.check_output("parachute workspaces list --json"))] == [
        "garden"
    ]


def test_what_the_supervisor_starts_finds_its_programs(machine: Guest) -> None:
    machine.user.check_output("parachute hooks list")
    for unit in ("parachute-programs.service", "parachute-module@brain.service"):
        shown = machine.user.check_output(f"systemctl --user show {unit} --property=DropInPaths --property=Environment")
        assert "overrides.conf" in shown, unit
        assert "PATH=/run/wrappers/bin:" in shown, unit


def test_backups_are_due(machine: Guest) -> None:
    timers = machine.user.check_output("systemctl --user list-timers --all --plain --no-legend 'parachute-*'")
    assert "parachute-backup.timer" in timers
    assert "parachute-backup-drill.timer" in timers


@pytest.fixture(scope="module")
def screen(machine: Guest) -> str:
    """The text that first boot wrote to the screen."""
    # The guest has none: it stays in a file.
    machine.root.check_output("touch /dev/tty1 && systemctl restart parachute-first-boot.service")
    shown = "systemctl show parachute-first-boot.service"
    # It has no main process any more once its script has ended, and may have none yet.
    wait_until(
        lambda: machine.root.check_output(f"{shown} --property=SubState --value") == "exited",
        "the screen was written",
        machine.journal,
        seconds=SECONDS,
    )
    return str(machine.root.check_output("cat /dev/tty1"))


def test_the_screen_shows_a_key_and_the_journal_none(machine: Guest, screen: str) -> None:
    assert ":3333" in screen
    parts = [re.split(r"  +", line)[-1].strip() for line in screen.splitlines()]
    first = next(number for number, part in enumerate(parts) if part.startswith("para_"))
    key = parts[first] + parts[first + 1]
    # From loopback nobody needs one; a wrong one is refused from everywhere.
    status = "curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:3333/api/auth/keys -H 'Authorization: Bearer "
    assert machine.user.run(f"{status}{key}'").stdout == "200"
    assert machine.user.run(f"{status}{key[:-1]}'").stdout == "401"
    journal = machine.root.check_output("journalctl --no-pager")
    assert "parachute-first-boot.service" in journal
    for part in (parts[first], parts[first + 1]):
        assert part not in journal
        assert machine.root.run(f"grep -r -F -e {part} /home/parachute /run/systemd /var/log").rc == 1
    assert machine.root.check_output("systemctl is-enabled getty@tty1.service || true") == "masked"


@pytest.mark.usefixtures("screen")  # without a key the command has something else to say
def test_the_same_services_are_not_installed_beside_them(machine: Guest) -> None:
    refused = machine.user.run("parachute service install")
    assert refused.rc == 1
    assert "The system's configuration has these services already." in refused.stderr
    assert machine.user.run("test -e ~/.config/systemd/user/parachute-core.service").rc == 1


def _state(host: Host, unit: str) -> str:
    return str(host.run(f"systemctl --user is-active {unit}").stdout.strip())


def _copy(host: Host, evaluated: Any, target: str) -> None:
    """Write a configuration's files into the guest, which shares no folder with this machine."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        write(evaluated, Path(place))
        _readable(Path(place))
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            archive.add(place, arcname=".")
    text = base64.b64encode(packed.getvalue()).decode()
    host.check_output(f"mkdir -p {target} && echo {text} | base64 --decode | tar --extract --gzip --directory={target}")


def _readable(folder: Path) -> None:
    """As the store has it: everybody may read, whatever the umask of who renders."""
    folder.chmod(0o755)
    for path in folder.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
