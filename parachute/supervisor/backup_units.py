"""Backups by the clock: two services of the user manager, and the timers that start them."""

import sys
from datetime import UTC, datetime, time, timedelta, tzinfo

from parachute.config.settings.home import Home
from parachute.supervisor import installed
from parachute.supervisor.systemd import rendering

BACKUP, DRILL = "parachute-backup", "parachute-backup-drill"
SERVICES = (f"{BACKUP}.service", f"{DRILL}.service")
TIMERS = (f"{BACKUP}.timer", f"{DRILL}.timer")
NAMES = (*SERVICES, *TIMERS)

_YEAR = 366
_DRILL_DAYS = {"weekly": "Sun *-*-*", "monthly": "*-*-01"}


def render(home: Home, at: str, drill: str, zone: tzinfo | None = None) -> dict[str, str]:
    """The files by name: a backup each day `at` (HH:MM), a drill `weekly` or `monthly` after that day's backup.

    A time that clocks leave out on some day of the year is as much later as they are put forward: systemd would make none on that day.
    """
    at = _of_every_day(at, zone)
    return {
        SERVICES[0]: _service(home, "create", "a backup", []),
        SERVICES[1]: _service(
            home, "drill", "whether the newest backup can be restored", ["# Not while one is being made."]
        ),
        TIMERS[0]: _timer("a backup each day", f"*-*-* {at}:00"),
        TIMERS[1]: _timer("a drill of the backup", f"{_DRILL_DAYS[drill]} {at}:30"),
    }


def _of_every_day(text: str, zone: tzinfo | None) -> str:
    wanted, today = time.fromisoformat(text), datetime.now(UTC).date()
    for day in range(_YEAR):
        # By way of the timestamp: what is left out comes back as the time after the gap.
        shown = datetime.combine(today + timedelta(day), wanted, zone)
        there = datetime.fromtimestamp(shown.timestamp(), UTC).astimezone(zone).time()
        if there != wanted:
            return f"{there:%H:%M}"
    return text


def _service(home: Home, command: str, described: str, after: list[str]) -> str:
    program = rendering.command_line((sys.executable, "-m", "parachute.cli", "backup", command))
    order = [*after, f"After={SERVICES[0]}"] if after else []
    lines = [
        "[Unit]",
        f"Description=Parachute: {described}",
        *order,
        "",
        "[Service]",
        "Type=oneshot",
        f"ExecStart={program}",
        "# Python imports from the folder it is started in, which would be the home.",
        "WorkingDirectory=/",
        f"Environment={installed.environment_of(home)}",
        "# A first backup to a slow place takes hours.",
        "TimeoutStartSec=infinity",
        "# It is asked first: it ends restic, and removes what it has copied.",
        "KillMode=mixed",
        "TimeoutStopSec=30",
        "# Whoever works at the computer meanwhile should not notice.",
        "Nice=10",
        "IOSchedulingClass=idle",
        "# No program can give it more rights than it has.",
        "NoNewPrivileges=yes",
        "LockPersonality=yes",
        "RestrictRealtime=yes",
        # It refuses openat2(2), which bubblewrap cannot do without: a drill starts the computer in its namespaces.
        *(["RestrictSUIDSGID=yes"] if command == "create" else []),
        "# The way to a remote repository and to the supervisor; a drill has a network of its own (netlink).",
        "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
        "SystemCallArchitectures=native",
        "# Copies of databases are for the owner only.",
        "UMask=0077",
        "# A dump of memory could hold keys.",
        "LimitCORE=0",
        "# Where `parachute logs` looks.",
        f"StandardOutput=append:{rendering.absolute(home.logs / 'backup.log')}",
        "StandardError=inherit",
    ]
    return "\n".join(lines) + "\n"


def _timer(described: str, calendar: str) -> str:
    lines = [
        "[Unit]",
        f"Description=Parachute: {described}",
        "",
        "[Timer]",
        f"OnCalendar={calendar}",
        "# A computer that was off then catches up.",
        "Persistent=yes",
        "# Not all computers of a house at the same second.",
        "RandomizedDelaySec=5min",
        "",
        "[Install]",
        "WantedBy=timers.target",
    ]
    return "\n".join(lines) + "\n"
