"""The port: the computer can listen on the address in the settings."""

import errno
import socket

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, NotApplicable, Result, check, ok, problem, settings_of, warning
from parachute.ops.doctor.programs import ask
from parachute.ops.doctor.systemd import is_booted
from parachute.supervisor import installed

_LISTENING = "0A"
_ANOTHER = "End that program, or choose another port: `parachute config set port 3400`."


@check("Port", Group.SERVICES)
def examine(computer: Computer) -> Result:
    settings = settings_of(computer, "the port")
    if computer.supervisor is not None:
        host, port = computer.supervisor["main_server_host"], computer.supervisor["main_server_port"]
        if (host, port) != (settings.host, settings.port):
            return warning(
                f"The computer listens on {host}, port {port}; the settings say {settings.host}, port {settings.port}.",
                "`parachute restart` makes it listen there; a service: `parachute service install`.",
            )
        return ok(f"The computer listens on {host}, port {port}.")
    if computer.is_running:
        raise NotApplicable("The supervisor does not answer.")
    return _tried(computer, settings.host, settings.port)


def _tried(computer: Computer, host: str, port: int) -> Result:
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host or "0.0.0.0",  # noqa: S104 - looked up
            port,
            type=socket.SOCK_STREAM,
            flags=socket.AI_NUMERICSERV,
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            # Not listened on, so that nobody can reach it; connections of before do not count.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
    except socket.gaierror as error:
        return problem(f"host: {host!r} is no address ({error.strerror}).", "`parachute config set host 127.0.0.1`")
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return _taken(computer, port)
        if error.errno == errno.EADDRNOTAVAIL:
            return problem(f"{host} is no address of this machine.", "`parachute config set host 127.0.0.1`")
        if error.errno == errno.EACCES:
            return problem(f"This user may not use port {port}.", "`parachute config set port 3333`")
        raise
    return ok(f"Port {port} is free.")


def _taken(computer: Computer, port: int) -> Result:
    if is_booted(computer):
        # Which sockets the user manager holds nobody sees in /proc.
        answer = ask(computer, "systemctl", "--user", "is-active", installed.CORE_SOCKET)
        if answer.out == "active":
            return ok(f"systemd holds port {port} for the computer.")
    holder = _holder(computer, port)
    who = f"{holder[1]} (process {holder[0]})" if holder else "another program"
    return problem(f"Port {port} is used by {who}, so the computer cannot start.", _ANOTHER)


def _holder(computer: Computer, port: int) -> tuple[int, str] | None:
    """Process and name of the program that listens on a port, as far as this user may see it."""
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in (computer.read(table) or "").splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                inodes.add(f"socket:[{fields[9]}]")
    for process in computer.path("/proc").glob("[0-9]*"):
        try:
            if any(str(each.readlink()) in inodes for each in (process / "fd").iterdir()):
                return int(process.name), (process / "comm").read_text().strip()
        except OSError:
            continue  # somebody else's, or gone
    return None
