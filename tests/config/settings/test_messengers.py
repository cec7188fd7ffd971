"""Quiet hours, in which the owner's chat is told nothing that can wait."""

from datetime import datetime

import pytest

from parachute.config.settings.groups.messengers import QuietHours


@pytest.mark.parametrize(
    ("begin", "end", "hour", "quiet"),
    [
        *(("22:00", "07:00", "21:59", False), ("22:00", "07:00", "22:00", True), ("22:00", "07:00", "03:00", True)),
        *(("22:00", "07:00", "07:00", False), ("13:00", "14:00", "13:30", True), ("13:00", "14:00", "14:00", False)),
        ("08:00", "08:00", "08:00", False),
    ],
)
def test_quiet_hours_may_go_over_midnight(begin: str, end: str, hour: str, quiet: bool) -> None:
    hours = QuietHours(quiet_from=begin, quiet_until=end)
    assert hours.holds(datetime.strptime(f"2026-11-24 {hour}", "%Y-%m-%d %H:%M")) is quiet
