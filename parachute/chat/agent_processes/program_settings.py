"""The settings of the agent's program itself, which reads no other file of settings."""

import json
from typing import Any

_SETTINGS: dict[str, Any] = {
    # Otherwise the program asks a service of Anthropic's about a host before it fetches a page: the proxy decides that here.
    "skipWebFetchPreflight": True,
    # Commits are the owner's; without this the program asks for a line about itself in each, also in chats without a project.
    "attribution": {"commit": "", "pr": ""},
    # It would run the commands that stand in the text of a skill while it shows that to the model, and ask no rule before.
    "disableSkillShellExecution": True,
    # Its own skills know nothing of this computer.
    "disableBundledSkills": True,
    # Days after which the program deletes transcripts, 30 if nothing says otherwise. 0 is refused; a day so long ago is no date at all,
    # so that it looks for none either.
    "cleanupPeriodDays": 999_999_999,
}


def program_settings() -> str:
    """Return the settings as JSON, for the option `settings` of the SDK."""
    return json.dumps(_SETTINGS)
