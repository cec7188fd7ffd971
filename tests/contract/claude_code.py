"""Conversations of Claude Code, as the app reads them."""

from pydantic import Field

from .dart import Camel, Moment


class ClaudeCodeSession(Camel):
    """One row of a list."""

    session_id: str = Field(min_length=8)
    title: str | None = None
    first_message: str | None = None
    message_count: int = 0
    created_at: Moment | None = None
    last_timestamp: Moment | None = None
    model: str | None = None
    cwd: str | None = None
    project_path: str | None = None
    project_display_name: str | None = None


class ClaudeCodeSessions(Camel):
    """`GET /api/claude-code/recent` and `/sessions`."""

    sessions: list[ClaudeCodeSession] = []


class ClaudeCodeProject(Camel):
    """A folder in which there were conversations."""

    encoded_name: str = ""
    path: str = ""
    session_count: int = 0


class ClaudeCodeProjects(Camel):
    """`GET /api/claude-code/projects`."""

    projects: list[ClaudeCodeProject] = []


class ClaudeCodeMessage(Camel):
    """Message of one side."""

    type: str = "unknown"
    content: str | None = None
    timestamp: Moment | None = None


class ClaudeCodeDetails(Camel):
    """`GET /api/claude-code/sessions/{id}`."""

    session_id: str = ""
    title: str | None = None
    cwd: str | None = None
    model: str | None = None
    created_at: Moment | None = None
    messages: list[ClaudeCodeMessage] = []


class ClaudeCodeAdoption(Camel):
    """`POST /api/claude-code/adopt/{id}`."""

    success: bool = False
    already_adopted: bool = False
    parachute_session_id: str = ""
    file_path: str | None = None
    message_count: int | None = None
    message: str = ""
