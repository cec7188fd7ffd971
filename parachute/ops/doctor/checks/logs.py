"""The sizes of logs."""

import stat
from pathlib import Path

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Fix, Group, Result, check, ok, settings_of, warning
from parachute.ops.doctor.present import present
from parachute.supervisor.logs import LIMIT, shorten

_LONG = 2 * LIMIT
_ONE_DAY = 500
"""Megabytes that a day may take before the next one begins."""


@check("Logs", Group.SERVICES)
def examine(computer: Computer) -> Result:
    folder = computer.home.root / "logs"
    found = present(sorted(folder.glob("*.log")))
    sizes = {path: status.st_size for path, status in found if stat.S_ISREG(status.st_mode)}
    long = [path for path, size in sizes.items() if size > _LONG]
    if long:
        return warning(
            f"Logs have grown too long: {', '.join(f'{path.name} ({sizes[path] >> 20:,} MB)' for path in long)}.",
            "The supervisor shortens them while it runs: `parachute start`, or `parachute doctor logs --fix`.",
            fix=Fix(f"Keep the last 4 MB of {', '.join(path.name for path in long)}.", lambda: _shorten(long)),
        )
    settings = settings_of(computer, "the vault")
    audit = settings.vault / ".parachute" / "audit"
    size = sum(status.st_size for _, status in present(audit.glob("*.jsonl")))
    if size >> 20 > settings.audit.keep_megabytes + _ONE_DAY:
        return warning(
            f"The audit log takes {size >> 20:,} MB, more than `audit.keep_megabytes` allows.",
            "The server removes the oldest days when a new one begins: look at `parachute logs core`.",
        )
    return ok(f"The logs take {sum(sizes.values()) >> 20} MB, and the audit log {size >> 20} MB.")


def _shorten(paths: list[Path]) -> str:
    before = sum(path.stat().st_size for path in paths)
    for path in paths:
        if path.stat().st_size > _LONG:  # somebody else may have been quicker
            shorten(path)
    return f"Of {before >> 20:,} MB the newest lines are kept; those before are in the files that end with .1."
