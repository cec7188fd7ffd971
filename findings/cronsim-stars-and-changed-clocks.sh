#!/usr/bin/env bash
# cronsim 2.8, expressions with the same times in a zone whose clocks are changed.
# Expected: `*/30 2 * * *` and `0,30 2 * * *` name the same times, so they give the same runs on every day of the year.
# Seen: a star in the field of minutes or hours, also one with a step, says "go on by the clock as it runs": in March, when the hour of
# two is left out, nothing runs on that day, and in October, when it comes twice, everything runs twice. The list runs once on each day:
# at 03:00 in March, and in the first of both hours in October.
#   */30 2 * * *   29 March: -                      25 October: 02:00+02:00 02:30+02:00 02:00+01:00 02:30+01:00
#   0,30 2 * * *   29 March: 03:00+02:00            25 October: 02:00+02:00 02:30+02:00
# 2026-12-01
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q cronsim==2.8 tzdata==2026.2
"$folder/venv/bin/python" - <<'PYTHON'
from datetime import date, datetime
from itertools import takewhile
from zoneinfo import ZoneInfo

from cronsim import CronSim

ZONE = ZoneInfo("Europe/Berlin")


def runs(expression: str, day: date) -> list[str]:
    """The runs of one day."""
    begin = datetime(day.year, day.month, day.day, 0, 0, tzinfo=ZONE)
    found = takewhile(lambda each: each.date() == day, CronSim(expression, begin))
    return [each.isoformat()[11:16] + each.isoformat()[19:] for each in found]


seen = {each: [runs(each, day) for day in (date(2026, 3, 29), date(2026, 10, 25))] for each in ("*/30 2 * * *", "0,30 2 * * *")}
for expression, (march, october) in seen.items():
    print(f"{expression}  March: {' '.join(march) or '-'}  October: {' '.join(october)}")
assert seen["*/30 2 * * *"] == [[], ["02:00+02:00", "02:30+02:00", "02:00+01:00", "02:30+01:00"]]
assert seen["0,30 2 * * *"] == [["03:00+02:00"], ["02:00+02:00", "02:30+02:00"]]
PYTHON
