"""`python -m parachute.ops.rehearsal.inside PLAN`: the rehearsal itself, in its namespace; a line of JSON for each thing to say."""

import ctypes
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.ops.rehearsal.checking import Checking
from parachute.ops.rehearsal.models import Check
from parachute.ops.rehearsal.plan import Plan

_NOSUID, _NODEV, _NOEXEC = 2, 4, 8  # sys/mount.h
_SIDECARS = ("-wal", "-shm", "-journal")


def main() -> int:
    """Rehearse; 1 with a sentence on standard error where that is not possible."""
    try:
        plan = Plan.read(Path(sys.argv[1]))
        _mount_proc()
        if plan.purpose == "probe":
            _say(probe=_unavailable(plan))
            return 0
        _put_databases(plan)
        checking = Checking(
            plan, report=lambda check: _say(check=check.as_json()), changed=lambda text: _say(change=text)
        )
        try:
            checking.run_restored() if plan.purpose == "restored" else checking.run()
        except OSError as error:
            _say(check=_broken_off(error).as_json())
    except (ParachuteError, OSError, ValueError, TypeError) as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    _say(done=True)
    return 0


def _say(**document: Any) -> None:
    print(json.dumps(document), flush=True)  # noqa: T201 - whoever started this reads it


def _mount_proc() -> None:
    """Show the processes of this namespace; bubblewrap would cover parts of it for root, and then no sandbox starts in it."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.mount(b"proc", b"/proc", b"proc", _NOSUID | _NODEV | _NOEXEC, None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"/proc cannot be mounted: {os.strerror(number)}")


def _unavailable(plan: Plan) -> str | None:
    import subprocess

    from parachute.ops.rehearsal import confined

    # As the new version will: without rights in this namespace.
    code = "from parachute.sandbox.engines.bubblewrap import unavailable; print(unavailable() or '')"
    tried = subprocess.run(
        confined.command([sys.executable, "-c", code]),
        env=plan.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if tried.returncode != 0:
        return (tried.stderr.strip().splitlines() or ["A namespace in a namespace cannot be entered."])[-1]
    return tried.stdout.strip() or None


def _put_databases(plan: Plan) -> None:
    """Put whole copies in the place of databases that others are writing."""
    for copy, database in plan.databases:
        for sidecar in _SIDECARS:
            Path(f"{database}{sidecar}").unlink(missing_ok=True)
        shutil.copy2(copy, database)


def _broken_off(error: OSError) -> Check:
    sentence = f"The rehearsal was broken off: {error.strerror or error}."
    return Check("rehearsal", False, sentence, "Look at the disk: `parachute doctor disk-space`.")


if __name__ == "__main__":
    sys.exit(main())
