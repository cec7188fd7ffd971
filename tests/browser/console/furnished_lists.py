"""Conversations, a journal and knowledge to look at."""

from tests.browser.console import furnishing
from tests.support.computer import Computer


def furnish_lists(computer: Computer) -> None:
    """Put something into every list."""
    sessions = furnishing.add_conversations(computer)
    furnishing.add_workspace(computer, "Garden", sessions[:1])
    furnishing.add_workspace(computer, "Choir", sessions[5:6])
    furnishing.add_claude_code(computer)
