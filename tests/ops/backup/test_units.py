"""The timers: systemd takes every line, and the settings decide when."""

import shutil
import subprocess
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from parachute.config.settings.home import Home
from parachute.supervisor import backup_units

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("zone", "at", "expected"),
    [("Europe/Berlin", "02:30", "03:30"), ("Europe/Berlin", "03:30", "03:30"), ("UTC", "02:30", "02:30")],
)
def test_a_time_that_clocks_leave_out_is_the_one_after_it(tmp_path: Path, zone: str, at: str, expected: str) -> None:
    files = backup_units.render(Home(tmp_path), at, "weekly", ZoneInfo(zone))
    lines = [line for name in backup_units.TIMERS for line in files[name].splitlines()]
    found = [line.split()[-1] for line in lines if line.startswith("OnCalendar=")]
    assert found == [f"{expected}:00", f"{expected}:30"]


@pytest.mark.parametrize("drill", ["weekly", "monthly"])
@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_systemd_has_nothing_to_say_about_the_units(tmp_path: Path, drill: str) -> None:
    home = Home(tmp_path / "a home with 100% $blanks")
    files = backup_units.render(home, "03:30", drill)
    assert tuple(files) == backup_units.NAMES
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    verified = subprocess.run(
        ["systemd-analyze", "--user", "verify", *(str(tmp_path / name) for name in files)],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)},
    )
    assert (verified.returncode, verified.stdout, verified.stderr) == (0, "", "")


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
@pytest.mark.parametrize(
    ("name", "drill", "expected"),
    [
        ("parachute-backup.timer", "weekly", "2026-06-30 04:45:00"),
        ("parachute-backup-drill.timer", "weekly", "2026-07-05 04:45:30"),
        ("parachute-backup-drill.timer", "monthly", "2026-07-01 04:45:30"),
    ],
)
def test_the_clock_is_the_one_of_the_settings(tmp_path: Path, name: str, drill: str, expected: str) -> None:
    text = backup_units.render(Home(tmp_path), "04:45", drill)[name]
    calendar = next(line.partition("=")[2] for line in text.splitlines() if line.startswith("OnCalendar="))
    command = ["systemd-analyze", "calendar", "--base-time=2026-06-30 00:00:00", calendar]
    assert expected in subprocess.run(command, capture_output=True, text=True, check=True, env={"TZ": "UTC"}).stdout
