"""Running the program that makes certificates."""

import json
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from parachute.base.errors import Unavailable
from parachute.supervisor.command_runner import children

_SECONDS = 60.0
_LARGEST = 1024 * 1024


def make(
    home: Path,
    now: datetime,
    hostnames: Sequence[str],
    own: Sequence[Path | None] = (),
    *,
    force: bool = False,
    anew: bool = False,
) -> None:
    """Make the certificate if one is due, or at any rate with `force`; with `anew` another authority, too.

    `own` are the owner's certificate and its key. It waits for the program; errors: Unavailable, OSError.
    """
    request = {
        "home": str(home),
        "hostnames": list(hostnames),
        "own": [str(path) if path else None for path in own],
        "now": now.timestamp(),
        "force": force,
        "anew": anew,
    }
    ended = children.run(
        [sys.executable, "-m", "parachute.web.tls.issuing", json.dumps(request)],
        folder=Path("/"),
        variables=children.environment("DBUS_SYSTEM_BUS_ADDRESS"),
        seconds=_SECONDS,
        largest=_LARGEST,
    )
    if ended.code:
        raise Unavailable(ended.output.strip()[-500:] or f"The program ended with {ended.code}.", key="no_certificate")
