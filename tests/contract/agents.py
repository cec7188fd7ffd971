"""Agents of modules that work once a day, as the app reads them (contract, section 9)."""

from .dart import Camel, Moment, Snake


class Schedule(Snake):
    """Schedule of an agent."""

    enabled: bool = True
    time: str


class State(Camel):
    """State of an agent's runs."""

    last_run_at: Moment | None = None
    last_processed_date: str | None = None
    run_count: int


class Agent(Camel):
    """`GET /api/modules/daily/agents/{name}`."""

    name: str
    display_name: str | None = None
    description: str
    schedule: Schedule
    state: State
    output_path: str


class AgentList(Snake):
    """`GET /api/modules/daily/agents`."""

    agents: list[Agent]


class AgentStatus(Camel):
    """Output of an agent for a day."""

    name: str
    display_name: str
    has_output: bool
    output_path: str | None = None
    last_run_at: Moment | None = None
    last_processed_date: str | None = None


class AgentsStatus(Snake):
    """`GET /api/modules/daily/agents/status`."""

    date: str
    agents: list[AgentStatus]


class RunResult(Snake):
    """`POST /api/modules/daily/agents/{name}/run`."""

    status: str
    output_path: str | None = None
    error: str | None = None
    journal_date: str | None = None
    output_date: str | None = None


class TranscriptBlock(Snake):
    """A part of a message."""

    type: str
    text: str | None = None
    name: str | None = None
    input: str | None = None
    tool_use_id: str | None = None


class TranscriptMessage(Snake):
    """A message of an agent's run."""

    type: str
    timestamp: Moment | None = None
    content: str | None = None
    blocks: list[TranscriptBlock] | None = None
    model: str | None = None


class AgentTranscript(Camel):
    """`GET /api/modules/daily/agents/{name}/transcript`."""

    has_transcript: bool
    session_id: str | None = None
    total_messages: int
    messages: list[TranscriptMessage]
    message: str | None = None
