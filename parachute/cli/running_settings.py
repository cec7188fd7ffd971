"""Settings with which the running computer was started, where another shell, or now the file, says something else."""

import os
from collections.abc import Iterable
from dataclasses import replace

from parachute.cli import lifecycle
from parachute.cli.setting_rows import SettingRow, as_text
from parachute.errors import Unavailable
from parachute.settings.home import Home


def with_running(home: Home, rows: Iterable[SettingRow]) -> list[SettingRow]:
    """The rows, each with what holds in the running computer if that is not what this shell would start with."""
    try:
        started = lifecycle.ask(home, "started_with", 5)
    except Unavailable:
        return list(rows)
    return [_compared(row, started) for row in rows]


def _compared(row: SettingRow, started: dict[str, object]) -> SettingRow:
    variable = f"PARACHUTE_{row.name.replace('.', '__').upper()}"
    environment = started["environment"]
    assert isinstance(environment, dict)
    if row.name in ("host", "port"):
        held, since = as_text(started[row.name]), variable if variable in environment else "the start"
    elif variable in environment:
        held, since = str(environment[variable]), variable
    else:
        return row
    if held in (as_text(row.value), os.environ.get(variable)):
        return row
    return replace(row, running=held, running_from=since)
