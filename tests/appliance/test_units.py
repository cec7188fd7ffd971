"""systemd's verdict on the rendered units, the effect of each directive in the user manager, and the end of a module."""

import json
import re
import shlex
from collections.abc import Iterator

import pytest
from testinfra.host import Host

from parachute.supervisor.models import Confinement
from parachute.supervisor.systemd import hardening
from parachute.supervisor.systemd.rendering import confine
from tests.appliance.recipe import ENVIRONMENT, SOURCE
from tests.appliance.services import MODULES, RUNTIME, Services, service

INSTALLED = "/home/parachute/.config/systemd/user"
THRESHOLDS = {
    **{"parachute-core.service": 2.5, "parachute-supervisor.service": 2.5, service("prober"): 2.7},
    **{"parachute-meaning.service": 2.7, "parachute-transcriber.service": 2.7},
}
STOPS = 10
PROBE = f"{ENVIRONMENT}/bin/python -IS {SOURCE}/tests/appliance/directives.py"
CHANGED = object()

# What a look finds with the directive; without it, it finds something else.
EFFECTS: dict[str, tuple[str, object]] = {
    "PrivateUsers=yes": ("users", "1"),
    "CapabilityBoundingSet=": ("bounding set", 0),
    "NoNewPrivileges=yes": ("no new privileges", "1"),
    "RestrictSUIDSGID=yes": ("setuid file", "EPERM"),
    "RestrictNamespaces=yes": ("namespace", "EPERM"),
    "PrivateDevices=yes": ("devices", CHANGED),
    "PrivateIPC=yes": ("queues", CHANGED),
    "ProtectHostname=yes": ("name of the machine", CHANGED),
    "ProtectKernelTunables=yes": ("kernel's settings", True),
    "ProtectControlGroups=yes": ("control groups", True),
    "ProtectKernelLogs=yes": ("kernel's log", "0o0"),
    "ProtectKernelModules=yes": ("kernel's modules", "EACCES"),
    "ProtectClock=yes": ("clock", "EPERM"),
    "SystemCallFilter=@system-service": ("trace", "SIGSYS"),
    "SystemCallFilter=~@privileged:EPERM": ("change an owner", "EPERM"),
    "SystemCallFilter=~@keyring:EPERM": ("keyring", "EPERM"),
    "KeyringMode=private": ("keyring", CHANGED),
    "SystemCallArchitectures=native": ("other machine's call", "SIGSYS"),
    "LockPersonality=yes": ("personality", "EPERM"),
    "RestrictRealtime=yes": ("come before all others", "EPERM"),
    "UMask=0077": ("new file", "0o600"),
    "MemoryDenyWriteExecute=yes": ("written code", "EACCES"),
    "ProtectSystem=full": ("write below /usr", "EROFS"),
    "ProtectSystem=strict": ("write elsewhere", "EROFS"),
    "ProtectHome=read-only": ("write at home", "EROFS"),
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6": ("netlink socket", "EAFNOSUPPORT"),
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK": ("packet socket", "EAFNOSUPPORT"),
}
# These are looked at in test_confinement.py, test_modules.py and test_limits.py.
OF_MODULES = {
    *("ProtectSystem=strict", "ProtectHome=tmpfs", "PrivateTmp=yes", "PrivateNetwork=yes", "PrivatePIDs=yes"),
    "RestrictAddressFamilies=AF_UNIX",
}
NAMES_PATHS = ("TemporaryFileSystem=", "BindReadOnlyPaths=", "BindPaths=", "ReadWritePaths=")


@pytest.fixture(scope="module")
def computer(user: Host) -> Iterator[Services]:
    """A computer that runs as services, with a module of the tests and one unit of each other kind written."""
    computer = Services(user)
    computer.run("parachute service install")
    computer.run(f"cp -r {MODULES}/prober . && sed -i 's/idle_seconds: .*/idle_seconds: 600/' prober/manifest.yaml")
    computer.install(f"{computer.home}/prober")
    computer.run("parachute config set sandbox.required false")
    open_units(computer)
    yield computer
    computer.run("parachute service uninstall")
    computer.run("rm -rf ~/.parachute ~/Parachute ~/prober")


@pytest.fixture(scope="module")
def free(host: Host, user: Host) -> Iterator[dict[str, object]]:
    """The probe's findings as a service without any directive."""
    host.check_output("install --directory --owner=parachute /usr/local/of-user /srv/of-user /usr/lib/modules")
    yield found(user)
    host.check_output("rm -rf /usr/local/of-user /srv/of-user; rmdir --ignore-fail-on-non-empty /usr/lib/modules")
    user.check_output("rm -f ~/written")


def found(user: Host, *directives: str) -> dict[str, object]:
    """The probe's findings as a service with these directives."""
    options = shlex.join(f"--property={each}" for each in directives)
    said: dict[str, object] = json.loads(
        user.check_output(f"systemd-run --user --quiet --wait --pipe --collect {options} {PROBE}")
    )
    return said


def directives(text: str) -> set[str]:
    """The lines that hold a service back, without those that name paths or amounts."""
    lines = {line for line in text.splitlines() if "=" in line and not line.startswith("#")}
    counted = ("MemoryMax=", "MemorySwapMax=", "TasksMax=", "Environment=", *NAMES_PATHS)
    return {line for line in lines if not line.startswith(counted)}


def test_each_directive_has_a_look_that_shows_what_it_does() -> None:
    units = "\n".join([*hardening.of_core(), *hardening.of_supervisor("/home/anna/.parachute")])
    module = confine(Confinement(), notifies=True, systemd=257)
    assert directives(units) | (directives(module) - OF_MODULES) <= set(EFFECTS)
    assert set(EFFECTS) <= directives(units) | directives(module), "nothing is looked at that no unit has"


@pytest.mark.parametrize("directive", EFFECTS)
def test_a_directive_is_effective_in_the_user_manager(user: Host, free: dict[str, object], directive: str) -> None:
    look, expected = EFFECTS[directive]
    # Without a namespace of users nobody may give up rights.
    with_it = found(user, directive, *(["PrivateUsers=yes"] if directive == "CapabilityBoundingSet=" else []))
    assert with_it[look] != free[look]
    if expected is not CHANGED:
        assert with_it[look] == expected


def test_what_the_supervisor_writes_stays_writable(user: Host, free: dict[str, object]) -> None:
    lines = ["[Service]", "Type=oneshot", *hardening.of_supervisor("/srv/of-user")]
    unit = "\n".join([*lines, f"ExecStart={PROBE}", "StandardOutput=truncate:/srv/of-user/found.json"])
    user.check_output(f"mkdir -p {RUNTIME} && echo {shlex.quote(unit)} > {RUNTIME}/probe.service")
    user.check_output("systemctl --user daemon-reload && systemctl --user start probe")
    held = json.loads(user.check_output("cat /srv/of-user/found.json"))
    user.check_output(f"rm {RUNTIME}/probe.service && systemctl --user daemon-reload")
    assert (free["write elsewhere"], held["write elsewhere"]) == (1, 1)
    assert (held["write below /usr"], held["write at home"]) == ("EROFS", "EROFS")


def test_systemd_verify_says_nothing_about_any_unit(computer: Services) -> None:
    files = computer.run(f"ls -d {INSTALLED}/parachute-*.s* {RUNTIME}/parachute-*.s*").split()
    names = {re.sub(r"@[^.]*", "@", file.rpartition("/")[2]) for file in files if not file.endswith(".d")}
    kinds = ("core", "direct", "mcp@", "meaning", "model", "module@", "programs", "sandbox@", "transcriber")
    expected = {f"parachute-{kind}.{suffix}" for kind in kinds for suffix in ("service", "socket")}
    assert names == {"parachute-supervisor.service", *expected}
    # A template is looked at as one of its units.
    units = [re.sub(r"@\.", "@prober.", file) for file in files if not file.endswith(".d")]
    done = computer.user.run(f"systemd-analyze --user verify {shlex.join(units)}")
    assert (done.rc, done.stdout, done.stderr) == (0, "", "")


def test_verify_would_say_something(computer: Services) -> None:
    computer.run(f"sed 's/^UMask=.*/UMask=maybe/' {INSTALLED}/parachute-core.service > wrong.service")
    done = computer.user.run("systemd-analyze --user verify ~/wrong.service; rm wrong.service")
    assert "UMask" in done.stderr


@pytest.mark.parametrize("unit", THRESHOLDS)
def test_the_exposure_of_a_unit_stays_below_its_threshold(computer: Services, unit: str) -> None:
    # What runs, with its drop-ins.
    merged = computer.run(f"systemctl --user cat {shlex.quote(unit)}")
    folder = computer.run("mktemp --directory")
    computer.run(f"echo {shlex.quote(merged)} > {folder}/{shlex.quote(unit)}")
    analysis = computer.user.run(
        f"systemd-analyze --user security --offline=true --threshold={round(THRESHOLDS[unit] * 10)} {folder}/{unit}"
    )
    computer.run(f"rm -r {folder}")
    assert analysis.rc == 0, analysis.stdout
    assert "Overall exposure level" in analysis.stdout


def test_core_starts_programs_that_are_not_held_back(computer: Services) -> None:
    script = "#!/bin/sh\ncat > /dev/null\ngrep -E 'NoNewPrivs|CapBnd' /proc/self/status\numask\n"
    computer.run("mkdir -p ~/.parachute/hooks")
    computer.run(
        f"echo {shlex.quote(script)} > ~/.parachute/hooks/on-session-end.sh && chmod u+x ~/.parachute/hooks/*.sh"
    )
    computer.run("parachute hooks approve --yes")
    said = computer.run("parachute hooks test session.end")
    own = computer.run("systemd-run --user --quiet --wait --pipe --collect grep CapBnd /proc/self/status").split()[1]
    assert f"CapBnd:\t{own}" in said
    assert "NoNewPrivs:\t0" in said
    assert "0022" in said
    core = computer.run("systemctl --user show parachute-core --property=MainPID --value")
    assert "NoNewPrivs:\t1" in computer.run(f"cat /proc/{core}/status")
    assert "CapBnd:\t0000000000000000" in computer.run(f"cat /proc/{core}/status")


def test_a_plain_stop_lets_a_module_end_well_however_often(computer: Services) -> None:
    """systemd 257 takes now and then a module for another's child; each stop then killed it at once."""
    computer.run(
        "systemd-run --user --quiet --unit=busy --property=CPUWeight=10000 sh -c 'for i in 1 2 3; do yes > /dev/null & done; wait'"
    )
    ended = []
    try:
        for _ in range(STOPS):
            computer.get("/api/prober/process")
            computer.run(f"systemctl --user stop {service('prober')}")
            ended.append(computer.show("prober", "Result", "ExecMainCode", "ExecMainStatus"))
    finally:
        computer.run("systemctl --user stop busy")
    # CLD_EXITED with 0: it was asked, and had the time for its on_stop.
    assert ended == [{"Result": "success", "ExecMainCode": "1", "ExecMainStatus": "0"}] * STOPS


def open_units(computer: Services) -> None:
    """See that a unit of each kind has been written."""
    script = """
import asyncio, sys, uuid
from parachute.config.settings.home import Home
from parachute.supervisor import control

async def main():
    for unit in ("direct", "meaning", "model", "mcp@prober", f"sandbox@{uuid.uuid4()}", "module@prober"):
        await control.ask(Home.find(), "open", unit=unit)
    settings = {"PARACHUTE_VOICE_MODEL": "/srv", "PARACHUTE_VOICE_MEMORY_MEGABYTES": "256"}
    await control.ask(Home.find(), "open", unit="transcriber", environment=settings)

asyncio.run(main())
"""
    computer.run(f"{ENVIRONMENT}/bin/python -c {shlex.quote(script)}")
