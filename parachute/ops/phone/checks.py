"""Reasons not to let other devices in: each is an error that says what to do, and nothing was changed."""

import errno
import socket

from parachute.base.errors import Conflict
from parachute.config.settings.home import Home
from parachute.config.settings.rows import one_row
from parachute.config.settings.store import check_value
from parachute.supervisor import installed
from parachute.web.first_boot.addresses import home_addresses, public_addresses

_AGAIN = "Then try again."


def check_networks() -> None:
    """Error: Conflict without a network at home, or with an address that the whole internet reaches."""
    if public := public_addresses():
        raise Conflict(
            f"The whole internet could try to sign in here: this computer has the public address {public[0]}.",
            "Use a private network such as Tailscale, and name its address: `parachute config set host ADDRESS`, then `parachute restart`.",
            key="public_address",
        )
    if not home_addresses():
        raise Conflict(
            "This computer is on no network at home.",
            f"Connect it to the Wi-Fi or cable that your phone uses. {_AGAIN}",
            key="no_home_network",
        )


def check_port(port: int) -> None:
    """Error: Conflict if another program has the port on one of our networks."""
    for address in home_addresses():
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((str(address), port))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    continue  # an address that went a moment ago
                raise Conflict(
                    f"Another program uses port {port} on {address}.",
                    f"End it, or take another port: `parachute config set port {port + 1}`, then `parachute restart`. {_AGAIN}",
                    key="port_taken",
                ) from error


def check_settings(home: Home, host: str) -> None:
    """Errors: Conflict if the environment says the address, or the system's services do; Declared, ConfigError."""
    source = one_row(home, "host").source
    if source not in ("default", "file", "declared"):
        raise Conflict(
            f"The variable {source} of the environment says which address this computer listens on.",
            f"Start it without that variable: `env -u {source} parachute restart`. {_AGAIN}",
            key="host_of_environment",
        )
    check_value(home, "host", host)
    if installed.is_for_us(installed.SYSTEM) or installed.are_links():
        raise Conflict(
            "The system's configuration starts this computer, and says which address it listens on.",
            "Change the address there: on NixOS and with home-manager in `services.parachute`.",
            key="system_services",
        )
