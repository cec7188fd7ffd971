"""What a person is asked to look at again before a setting is written: it could be, but not on this machine as it is."""

import os
import socket
from pathlib import Path

from parachute.addresses import own_addresses
from parachute.errors import InvalidInput


def check(name: str, value: str) -> None:
    """Error: InvalidInput for an address that this machine does not have, and for a vault that is not there."""
    if name == "host":
        _check_host(value)
    elif name == "vault":
        if not Path(value).expanduser().is_absolute():
            raise InvalidInput(f"vault: {value} is not a whole path.", "Write it from / or ~ on.")
        check_vault(Path(value).expanduser())


def check_vault(folder: Path) -> None:
    """Error: InvalidInput unless it is a folder that we may write."""
    if not folder.exists():
        raise InvalidInput(
            f"vault: there is no folder {folder}.",
            f"`parachute vault set --create {folder}` makes it.",
            key="no_folder",
        )
    if not folder.is_dir():
        raise InvalidInput(f"vault: {folder} is not a folder.", "Name a folder.")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise InvalidInput(f"vault: you may not write in {folder}.", "Name a folder of your own.")


def _check_host(host: str) -> None:
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(address)
    except (OSError, UnicodeError) as error:
        own = ", ".join(sorted(str(address) for address in own_addresses() if not address.is_link_local))
        raise InvalidInput(
            f"host: this computer has no address {host}.",
            f"0.0.0.0 listens on all of them, which are {own}; 127.0.0.1 on this computer only.",
        ) from error
