"""The settings of the agent's program itself, which reads no other file of settings."""

import json
from typing import Any

_SETTINGS: dict[str, Any] = {
    # Days after which the program deletes transcripts, 30 if nothing says otherwise. 0 is refused; a day so long ago is no date at all,
    # so that it looks for none either.
    "cleanupPeriodDays": 999_999_999,
}


def program_settings() -> str:
    """Return the settings as JSON, for the option `settings` of the SDK."""
    return json.dumps(_SETTINGS)
