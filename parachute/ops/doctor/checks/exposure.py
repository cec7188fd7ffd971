"""Exposure: the address and the rules in the settings let no strangers in."""

from ipaddress import ip_network

from parachute.base.addresses import is_loopback
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.keys import read_keys
from parachute.ops.doctor.models import Group, Result, check, ok, problem, settings_of, warning

_WIDE = {4: 16, 6: 48}
"""Prefixes shorter than this hold more addresses than reverse proxies of one person have."""


@check("Reachability from the network", Group.ACCESS)
def examine(computer: Computer) -> Result:
    settings = settings_of(computer, "the address")
    # What runs may have been started with another address than the settings have.
    running = str(computer.supervisor["main_server_host"]) if computer.supervisor else settings.host
    for host in dict.fromkeys((running, settings.host)):
        if is_loopback(host):
            continue
        if settings.auth_mode == "disabled":
            return problem(
                f"auth_mode is disabled, and {host or 'every address'} can be reached by others.",
                "`parachute config set auth_mode remote`, or `parachute config set host 127.0.0.1`",
            )
        if not read_keys(computer).keys:
            if computer.core_runs:
                return warning(
                    f"The computer listens on {host or 'every address'} but has no key, so no other device can connect.",
                    "Finish its set-up in the console, or make a key: `parachute keys create NAME`.",
                )
            return problem(
                f"The computer does not start: it would listen on {host or 'every address'} without any key.",
                "`parachute keys create NAME` makes one.",
            )
    wide = [text for text in settings.trusted_proxies if _is_wide(text)]
    if wide:
        return warning(
            f"trusted_proxies believes very many addresses: {', '.join(wide)}.",
            "List only the addresses of your reverse proxies: a trusted proxy can impersonate any client.",
        )
    if "*" in settings.origins:
        return warning(
            "origins lets every web page call.", "Name the pages: `parachute config set origins '[https://…]'`"
        )
    if settings.auth_mode == "disabled":
        return warning(
            "auth_mode is disabled: every program of this machine, of other users as well, may do everything.",
            "`parachute config set auth_mode remote`",
        )
    if is_loopback(running):
        return ok("Only this machine can reach the computer.")
    return ok(f"The computer listens on {running or 'every address'}, and others need a key.")


def _is_wide(text: str) -> bool:
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        return False  # core does not start with it, and says so
    return network.prefixlen < _WIDE[network.version] and not network.is_loopback
