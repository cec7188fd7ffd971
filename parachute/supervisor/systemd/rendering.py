"""A unit as the files that systemd's user manager reads; pure functions, so that every line can be looked at in a test."""

import ipaddress
import sys
from collections.abc import Sequence
from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.config.settings.home import Home
from parachute.supervisor.command_runner.starting import SOCKET, socket_path
from parachute.supervisor.logs import log_name
from parachute.supervisor.models import Confinement, Unit
from parachute.supervisor.systemd import hardening, main_process

PREFIX = "parachute-"
_START_PERIOD = 300
_FORGETFUL = 257  # the first with PrivatePIDs, and the last that may forget whose child it is (systemd #36446)
_OWN_PROCESSES = (
    "# Processes of others are not to be seen; their environment may hold what this service may not know.",
    "PrivatePIDs=yes",
)
_HOMES = (Path("/home"), Path("/root"), Path("/run/user"))  # what ProtectHome means


def service_name(name: str) -> str:
    """The systemd name of a unit's service."""
    return f"{PREFIX}{name}.service"


def socket_name(name: str) -> str:
    """The systemd name of a unit's sockets."""
    return f"{PREFIX}{name}.socket"


def render(
    unit: Unit, home: Home, log: Path, *, wanted_at_boot: bool = False, systemd: int | None = None
) -> dict[str, str]:
    """The files of a unit by their name below the folder of units; credentials are never in them.

    A unit `kind@instance` becomes a template that all instances share, where it has nothing of its own: then opening one
    more needs no reload of the manager, which would look at every unit of the user again.
    """
    base, _, instance = unit.name.partition("@")
    shared = bool(instance) and _is_shared(unit, home, instance)
    name = f"{base}@" if shared else unit.name
    files = {service_name(name): _service(unit, home, log, instance if shared else "", wanted_at_boot)}
    if unit.listen:
        files[socket_name(name)] = _socket(unit, home, instance if shared else "", wanted_at_boot)
    if unit.confinement:
        files[f"{service_name(unit.name)}.d/50-confinement.conf"] = confine(
            unit.confinement, notifies=unit.notifies, systemd=systemd
        )
    return files


def confine(confinement: Confinement, *, notifies: bool, systemd: int | None = None) -> str:
    """A drop-in that lets a service reach what is named, and nothing else; `systemd` is the manager's version, if it is known."""
    lines = [
        "[Service]",
        "# The file system is read-only, but for what is bound below.",
        "ProtectSystem=strict",
        "# Empty folders instead of all homes and of /run/user: keys, credentials and other modules' data are not there.",
        "ProtectHome=tmpfs",
        *(f'TemporaryFileSystem="{absolute(path)}:ro"' for path in _hidden(confinement)),
        "# Sockets of other services: buses, journals, container engines, each of which does more than a module may.",
        "TemporaryFileSystem=/run:ro",
        "# Where NixOS has its programs.",
        "BindReadOnlyPaths=-/run/current-system",
        "# Memory that programs of the same user share.",
        "TemporaryFileSystem=/dev/shm:mode=1777,nosuid,nodev,noexec",
        *(f'BindReadOnlyPaths="{absolute(path)}"' for path in _program(confinement)),
        *(f'BindReadOnlyPaths="-{absolute(path)}"' for path in confinement.read),
        *(f'BindPaths="{absolute(path)}"' for path in confinement.write),
    ]
    if notifies:
        lines += ["# It is below /run/user: without it the service could never say that it is ready.", _NOTIFY]
    lines += [
        "# Its own /tmp, without other programs' files and sockets.",
        "PrivateTmp=yes",
        "# A network in which nothing is but itself: the way out is the egress proxy, a socket in a folder bound above.",
        "PrivateNetwork=yes",
        f"RestrictAddressFamilies=AF_UNIX{' AF_INET AF_INET6' if confinement.loopback else ''}",
        *(_OWN_PROCESSES if systemd is None or systemd >= _FORGETFUL else ()),
        "# What others call this computer it cannot change.",
        "ProtectHostname=yes",
        *hardening.SHARED,
    ]
    if systemd == _FORGETFUL:
        lines += [
            "# This systemd may take its first process for another's child, and would end it without asking: so it tells twice.",
            f"Environment={main_process.ANNOUNCED}=1",
        ]
    if not confinement.writes_code:
        lines += hardening.CODE
    if confinement.memory_bytes:
        lines += ["# Over this it is ended, not slowed down: swap would slow down everybody.", _memory(confinement)]
    if confinement.processes:
        lines += ["# Processes and threads together.", f"TasksMax={confinement.processes}"]
    return "\n".join(lines) + "\n"


_NOTIFY = "BindReadOnlyPaths=%t/systemd/notify"


def _memory(confinement: Confinement) -> str:
    return f"MemoryMax={confinement.memory_bytes}\nMemorySwapMax=0"


def _hidden(confinement: Confinement) -> list[Path]:
    """Folders to be hidden that ProtectHome does not hide already."""
    found = {path for path in confinement.hide if not any(path.is_relative_to(home) for home in _HOMES)}
    return _outermost(found - {Path("/")})


def _program(confinement: Confinement) -> list[Path]:
    """The folders of the interpreter and our own code, as far as they would be hidden."""
    import parachute_runner

    import parachute

    folders = {Path(sys.prefix), Path(sys.base_prefix)}
    folders |= {Path(package.__path__[0]).parent for package in (parachute, parachute_runner)}
    hidden = [*_HOMES, Path.home(), *_hidden(confinement)]
    return _outermost({folder for folder in folders if any(folder.is_relative_to(place) for place in hidden)})


def _outermost(folders: set[Path]) -> list[Path]:
    return sorted(folder for folder in folders if not any(folder.is_relative_to(other) for other in folders - {folder}))


def _service(unit: Unit, home: Home, log: Path, instance: str, wanted_at_boot: bool) -> str:
    arguments = _without_parent(unit.command)
    command = command_line(arguments[:-1] if instance else arguments) + (" %i" if instance else "")
    environment = {**unit.environment, "PARACHUTE_HOME": str(home.root)}
    if unit.hardened:
        environment[SOCKET] = str(socket_path(home.root))
    lines = _unit_section(unit, instance, wanted_at_boot)
    lines += [
        "",
        "[Service]",
        f"ExecStart={command}",
        "# Python imports from the folder it is started in, which would be the home.",
        "WorkingDirectory=/",
        *(f"Environment={quoted(f'{name}={value}', dollars=False)}" for name, value in sorted(environment.items())),
    ]
    lines += _readiness(unit)
    if unit.delegates:
        lines += ["# A container gets a group of its own below ours, with limits, and ends with us.", "Delegate=yes"]
    lines += [
        f"TimeoutStopSec={unit.stop_seconds:g}",
        "# The main process is asked to end and tells its own; what is then left of the control group is killed.",
        "KillMode=mixed",
        "# An agent's command that takes too much memory does not end the whole service.",
        "OOMPolicy=continue",
        f"Restart={'on-failure' if unit.on_demand else 'always'}",
        "RestartSec=50ms",
        "RestartSteps=3",
        "RestartMaxDelaySec=3200ms",
        "# A dump of memory could hold keys.",
        "LimitCORE=0",
        "# Where `parachute logs` looks.",
        f"StandardOutput=append:{_output(unit, log, instance)}",
        "StandardError=inherit",
    ]
    if wanted_at_boot:
        lines += [
            "# As many connections as its own limits allow: 1,024 descriptors are one stranger's.",
            "LimitNOFILE=65536",
        ]
    if unit.hardened:
        lines += hardening.of_core()
    if wanted_at_boot:
        lines += ["", "[Install]", "WantedBy=default.target"]
    return "\n".join(lines) + "\n"


def _unit_section(unit: Unit, instance: str, wanted_at_boot: bool) -> list[str]:
    """The lines of what a service needs beside it, and of when it is given up."""
    lines = ["[Unit]", f"Description=Parachute: {_described(unit, instance)}"]
    if unit.listen:
        sockets = socket_name(f"{unit.name.partition('@')[0]}@%i" if instance else unit.name)
        lines += ["# Without its sockets it would have nothing to serve on.", f"Requires={sockets}", f"After={sockets}"]
    if wanted_at_boot:
        supervisor = service_name("supervisor")
        lines += ["# It asks the supervisor for its sandboxes.", f"Wants={supervisor}", f"After={supervisor}"]
    return [
        *lines,
        "# One that fails again and again is given up, and its sockets refuse instead of letting callers wait.",
        f"StartLimitIntervalSec={_START_PERIOD}",
        f"StartLimitBurst={unit.attempts}",
    ]


def _readiness(unit: Unit) -> list[str]:
    """The lines of how a service says that it is there, and still is."""
    if unit.notifies:
        lines = ["Type=notify", "NotifyAccess=main", f"TimeoutStartSec={unit.start_seconds:g}"]
    else:
        lines = ["# `exec`, not `simple`: a program that is not there is a failed start.", "Type=exec"]
    if unit.watchdog_seconds:
        lines += [
            f"WatchdogSec={unit.watchdog_seconds:g}",
            "# SIGABRT would wait as long as the process is stopped.",
            "WatchdogSignal=SIGKILL",
        ]
    return lines


def _without_parent(command: tuple[str, ...]) -> tuple[str, ...]:
    """The command without what ties a child to the supervisor: systemd ends control groups, and the next one adopts them."""
    if command[1:3] != ("-m", "parachute.supervisor.children.child"):
        return command
    _, program, *arguments = command[3:]
    how = ("-IS",) if program.endswith(".py") else ("-m",)
    return (command[0], *how, program, *arguments)


def _socket(unit: Unit, home: Home, instance: str, wanted_at_boot: bool) -> str:
    lines = ["[Unit]", f"Description=Parachute: sockets of {_described(unit, instance)}", "", "[Socket]"]
    for address in unit.listen:
        if isinstance(address, Path):
            path = (_instance_path(address, home, instance) if instance else None) or address
            lines.append(f"ListenStream={absolute(path)}")
        else:
            lines.append(f"ListenStream={_endpoint(*address)}")
    lines += [
        "# Only the owner connects.",
        "SocketMode=0600",
        "DirectoryMode=0700",
        "Accept=no",
        "Backlog=128",
    ]
    if any(isinstance(address, tuple) for address in unit.listen):
        lines += [
            "# Small events of a stream would each wait 40 ms for an acknowledgement.",
            "NoDelay=yes",
            "BindIPv6Only=ipv6-only",
        ]
    lines += [
        f"FileDescriptorName={unit.name.partition('@')[0]}",
        "RemoveOnStop=yes",
        "# A service that ends again and again without taking its connection is given up after 20 starts in two seconds.",
        "TriggerLimitIntervalSec=2s",
        "TriggerLimitBurst=20",
        "# This younger limit would come first, and let it go on for ever.",
        "PollLimitIntervalSec=0",
    ]
    if wanted_at_boot:
        lines += ["", "[Install]", "WantedBy=sockets.target"]
    return "\n".join(lines) + "\n"


def _is_shared(unit: Unit, home: Home, instance: str) -> bool:
    paths = all(isinstance(address, Path) and _instance_path(address, home, instance) for address in unit.listen)
    # One that is always on is restarted in another way.
    return unit.command[-1] == instance and paths and not unit.environment and unit.on_demand


def _instance_path(path: Path, home: Home, instance: str) -> Path | None:
    """run/KIND/%i/... for run/KIND/INSTANCE/..., None for any other path; names alone could match by chance."""
    try:
        kind, found, *rest = path.relative_to(home.root / "run").parts
    except ValueError:
        return None
    return home.root.joinpath("run", kind, "%i", *rest) if found == instance else None


def _output(unit: Unit, log: Path, instance: str) -> str:
    if instance and log.name == log_name(unit.name):
        return f"{absolute(log.parent)}/{log_name(unit.name.partition('@')[0] + '@%i')}"
    return absolute(log)


def _described(unit: Unit, instance: str) -> str:
    return f"{unit.name.partition('@')[0]} %i" if instance else unit.name.replace("%", "%%")


def _endpoint(host: str, port: int) -> str:
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError as error:
        raise InvalidInput(
            f"host: {host!r} is not an address; a service needs one, such as 127.0.0.1.", key="no_address"
        ) from error
    # The name of an interface stands behind a per cent sign.
    text = str(address).replace("%", "%%")
    return f"[{text}]:{port}" if address.version == 6 else f"{text}:{port}"


def absolute(path: Path) -> str:
    """A path as a unit names it; error: InvalidInput for what cannot stand in one."""
    text = str(path)
    if not path.is_absolute() or any(character in text for character in '\n\r":\\'):
        raise InvalidInput(
            f"{text!r} cannot be named in a unit: expected an absolute path without quotes or colons.",
            key="unsafe_path",
        )
    # %i is ours; a per cent sign of the path itself is not.
    return "/".join(part if part == "%i" else part.replace("%", "%%") for part in text.split("/"))


def command_line(arguments: Sequence[str]) -> str:
    """A program with its arguments, so that they arrive as they are; error: InvalidInput."""
    # In the program's own path systemd looks for no variables, and two dollar signs stay two.
    return " ".join((quoted(arguments[0], dollars=False), *map(quoted, arguments[1:])))


def quoted(text: str, *, dollars: bool = True) -> str:
    """An argument, or with `dollars` off a variable, so that it arrives as it is; error: InvalidInput."""
    if any(ord(character) < 32 and character not in "\n\t" for character in text):
        raise InvalidInput(f"{text!r} holds a control character, which a unit cannot.", key="control_character")
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("%", "%%")):
        text = text.replace(plain, escaped)
    if dollars:
        text = text.replace("$", "$$")
    return f'"{text}"'
