"""Routes of agents (contract, section 5)."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Header
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.answers import Answer, Done
from parachute.base.services import provided
from parachute.capabilities.agents.models import Agent
from parachute.capabilities.agents.service import Agents
from parachute.capabilities.texts import LIMIT, etag_of
from parachute.chat.agent_processes.helpers import BUILT_IN
from parachute.chat.sessions.api import CallerDependency

router = APIRouter(prefix="/api/agents", tags=["agents"])

IfMatch = Annotated[str | None, Header(max_length=1000)]
AgentsDependency = Annotated[Agents, Depends(provided(Agents))]

_PREVIEW = 200
"""Characters of a prompt in the list."""


class AgentText(BaseModel):
    """Text and equipment of an agent."""

    model_config = ConfigDict(extra="forbid", strict=True)

    prompt: Annotated[str, Field(min_length=1, max_length=LIMIT)]
    description: Annotated[str, Field(max_length=10_000)] | None = None
    tools: Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=200)] | None = None
    model: Annotated[str, Field(max_length=100)] | None = None


class NewAgent(AgentText):
    """An agent to be written."""

    name: Annotated[str, Field(min_length=1, max_length=200)]


class AgentCommands(Answer, frozen=True):
    """Commands of a shell that an agent may run."""

    bash: tuple[str, ...]


class AgentRow(Answer, frozen=True):
    """An agent; `system_prompt` only where it alone is asked for. The app expects `constraints` and `spawns`, which nothing has."""

    name: str
    description: str | None
    model: str | None
    path: str | None
    source: str
    tools: tuple[str, ...]
    system_prompt_preview: str | None
    permissions: AgentCommands | None
    mcp_servers: tuple[str, ...] | None
    skills: tuple[str, ...] | None
    problem: str | None
    note: str | None
    etag: str
    system_prompt: str | None = None
    type: Literal["chatbot"] = "chatbot"
    constraints: None = None
    spawns: tuple[str, ...] = ()


class AgentList(Answer, frozen=True):
    """Agents."""

    agents: tuple[AgentRow, ...]


class ChangedAgent(Answer, frozen=True):
    """The agent after a change."""

    agent: AgentRow
    success: bool = True


@router.get("")
async def list_agents(service: AgentsDependency) -> AgentList:
    """The agents of the vault, those of plugins, those of the user where the settings say so, and the computer's own."""
    return AgentList((*_own(), *map(row_of, [*await service.all(), *await service.brought()])))


@router.get("/{name}")
async def get_agent(name: str, service: AgentsDependency) -> AgentRow:
    """One agent with its prompt."""
    if own := next((each for each in _own() if each.name == name), None):
        return own
    return _in_full(await service.get(name))


@router.post("")
async def create_agent(body: NewAgent, service: AgentsDependency, who: CallerDependency) -> ChangedAgent:
    """Write an agent to the vault; so written it is approved."""
    tools = tuple(body.tools) if body.tools else None
    made = await service.create(
        body.name, body.prompt, (body.description or "").strip(), tools, body.model or None, f"{who.kind} {who.name}"
    )
    return ChangedAgent(row_of(made))


@router.put("/{name}")
async def change_agent(
    name: str, body: AgentText, service: AgentsDependency, who: CallerDependency, if_match: IfMatch = None
) -> ChangedAgent:
    """Change an agent of the vault; 412 if it is not the one of `If-Match`. Fields of its file that have no place here stay."""
    tools = tuple(body.tools) if body.tools else None
    description = (body.description or "").strip()
    made = await service.change(
        name, body.prompt, description, tools, body.model or None, if_match, f"{who.kind} {who.name}"
    )
    return ChangedAgent(_in_full(made))


@router.delete("/{name}")
async def delete_agent(name: str, service: AgentsDependency, who: CallerDependency) -> Done:
    """Remove an agent of the vault."""
    await service.delete(name, f"{who.kind} {who.name}")
    return Done()


def row_of(agent: Agent) -> AgentRow:
    """An agent as the app reads it, with our own additions."""
    return AgentRow(
        name=agent.name,
        description=agent.description or None,
        model=agent.model,
        # By its path the app has an agent answer, which those of the vault do.
        path=None if agent.source == "plugin" else agent.path,
        source=agent.source,
        tools=tuple(agent.tools or ()),
        system_prompt_preview=agent.prompt[:_PREVIEW] or None,
        permissions=None if agent.commands is None else AgentCommands(tuple(agent.commands)),
        mcp_servers=None if agent.mcp_servers is None else tuple(agent.mcp_servers),
        skills=None if agent.skills is None else tuple(agent.skills),
        problem=agent.problem,
        note=agent.note,
        etag=etag_of(agent.content),
    )


def _in_full(agent: Agent) -> AgentRow:
    return replace(row_of(agent), system_prompt=agent.prompt)


def _own() -> tuple[AgentRow, ...]:
    agents = (Agent(name, text, "", None, None, None, "builtin", "") for name, text in BUILT_IN.items())
    return tuple(replace(row_of(agent), path=None) for agent in agents)
