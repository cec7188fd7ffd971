"""What Podman's own record says of a container."""

import json
import subprocess
from typing import Any

from parachute.errors import Unavailable
from parachute.programs.starting import outside
from parachute.sandbox import podman
from parachute.sandbox.models import Specification

_SECONDS = 60
_LIMIT = 1 << 20


def inspect(specification: Specification) -> dict[str, Any]:
    """The record of a session's container; empty if Podman knows of none. Error: Unavailable. Waits."""
    command = outside(["podman", "container", "inspect", podman.container_name(specification)], leaves=True)
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        found = json.loads(done.stdout[:_LIMIT] or b"[]")
    except (OSError, ValueError, RecursionError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"Podman does not say what the container is: {error}.", "Try again.") from error
    first = found[0] if isinstance(found, list) and found else {}
    return first if isinstance(first, dict) else {}
