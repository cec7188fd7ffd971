"""The clock: the year, records of the future, and synchronisation."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, Result, check, ok, problem, warning
from parachute.ops.doctor.present import present
from parachute.ops.doctor.programs import ask, is_there

_OLDEST = 2026
_TOLERATED = timedelta(minutes=5)
_DAY_FILE = re.compile(r"\d{4}-\d{2}-\d{2}\.jsonl")
_SET = "`sudo timedatectl set-ntp true` lets the machine ask time servers; without a program that does so `sudo apt-get install systemd-timesyncd`; without a network set it by hand: `sudo date --set …`."


@check("Clock", Group.MACHINE)
def examine(computer: Computer) -> Result:
    now = datetime.now(UTC)
    if now.year < _OLDEST:
        return problem(f"The clock says {now:%Y-%m-%d}, which is before this program was made.", _SET)
    newest = max(_records(computer), default=None)
    if newest and newest[0] > now + _TOLERATED:
        return problem(
            f"The clock says {now:%Y-%m-%d %H:%M} UTC, but {newest[1]} was written at {newest[0]:%Y-%m-%d %H:%M} UTC.",
            f"Either the clock has jumped back, or it was wrong then. {_SET}",
        )
    synchronised = _synchronised(computer)
    if synchronised is None:
        return ok(f"The clock says {now:%Y-%m-%d %H:%M} UTC; whether it is synchronised is unknown.")
    if not synchronised:
        return warning("The clock is not synchronised with a time server.", _SET)
    return ok("The clock is synchronised with a time server.")


def _records(computer: Computer) -> list[tuple[datetime, Path]]:
    """Return the newest files that the computer itself wrote, with their times."""
    found = list((computer.home.root / "logs").glob("*.log"))
    if computer.settings is not None:
        state = computer.settings.vault / ".parachute"
        found += [*state.glob("*.db"), *state.glob("*.db-wal")]
        found += [path for path in (state / "audit").glob("*.jsonl") if _DAY_FILE.fullmatch(path.name)]
    return [(datetime.fromtimestamp(status.st_mtime, UTC), path) for path, status in present(found)]


def _synchronised(computer: Computer) -> bool | None:
    if not is_there(computer, "timedatectl"):
        return None
    answer = ask(computer, "timedatectl", "show", "--property=NTPSynchronized", "--value")
    return answer.out == "yes" if answer.code == 0 and answer.out in ("yes", "no") else None
