"""The days after which Claude Code deletes conversations, as its own settings say."""

import json
from pathlib import Path
from typing import Any

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder

MANAGED = Path("/etc/claude-code/managed-settings.json")
"""Settings of an organization, which go before the user's."""

_DEFAULT_DAYS = 30
_LIMIT = 1024 * 1024
_NAME = "cleanupPeriodDays"


def retention_days(*files: Path) -> int | None:
    """Return the days by the first of the files that says something, 30 where none does.

    None: it deletes nothing, as long as a file cannot be understood. The time of a transcript's last change counts.
    """
    try:
        found = [settings[_NAME] for path in files if _NAME in (settings := _read(path))]
    except (OSError, ValueError, RecursionError, InvalidInput):
        return None
    if not found:
        return _DEFAULT_DAYS
    days = found[0]
    return days if isinstance(days, int) and not isinstance(days, bool) and days > 0 else None


def _read(path: Path) -> dict[str, Any]:
    try:
        with Folder.open(path.parent) as folder:
            value = json.loads(folder.read(path.name, _LIMIT) or b"{}")
    except FileNotFoundError:
        return {}
    if not isinstance(value, dict):
        raise ValueError("expected an object")
    return value
