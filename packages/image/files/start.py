"""The first process of the container: sees whether agents can be shut in here, and becomes the supervisor."""

import os
import sys

from parachute.sandbox.engines import bubblewrap

_REFUSAL = """Agents and modules cannot be shut in here, so nothing was started.
{reason}
Let the container make namespaces of its own, with a /proc of its own:
  podman run --security-opt seccomp=unconfined --security-opt unmask=ALL ...
  docker run --security-opt seccomp=unconfined --security-opt systempaths=unconfined ...
and where AppArmor is in force, --security-opt apparmor=unconfined as well."""

if reason := bubblewrap.unavailable():
    sys.exit(_REFUSAL.format(reason=reason))
address = ("--host", os.environ["PARACHUTE_HOST"], "--port", os.environ["PARACHUTE_PORT"])
os.execv(sys.executable, [sys.executable, "-m", "parachute.supervisor", *address])  # noqa: S606 - no shell is the point
