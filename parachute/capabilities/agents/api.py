"""Routes of agents (contract, section 5)."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header
from pydantic import BaseModel, ConfigDict, Field

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


@router.get("")
async def list_agents(service: AgentsDependency) -> dict[str, Any]:
    """The agents of the vault, those of plugins, those of the user where the settings say so, and the computer's own."""
    return {"agents": [*_own(), *map(as_json, [*await service.all(), *await service.brought()])]}


@router.get("/{name}")
async def get_agent(name: str, service: AgentsDependency) -> dict[str, Any]:
    """One agent with its prompt."""
    if own := next((each for each in _own() if each["name"] == name), None):
        return own
    agent = await service.get(name)
    return {**as_json(agent), "system_prompt": agent.prompt}


@router.post("")
async def create_agent(body: NewAgent, service: AgentsDependency, who: CallerDependency) -> dict[str, Any]:
    """Write an agent to the vault; so written it is approved."""
    tools = tuple(body.tools) if body.tools else None
    made = await service.create(
        body.name, body.prompt, (body.description or "").strip(), tools, body.model or None, f"{who.kind} {who.name}"
    )
    return {"success": True, "agent": as_json(made)}


@router.put("/{name}")
async def change_agent(
    name: str, body: AgentText, service: AgentsDependency, who: CallerDependency, if_match: IfMatch = None
) -> dict[str, Any]:
    """Change an agent of the vault; 412 if it is not the one of `If-Match`. Fields of its file that have no place here stay."""
    tools = tuple(body.tools) if body.tools else None
    description = (body.description or "").strip()
    made = await service.change(
        name, body.prompt, description, tools, body.model or None, if_match, f"{who.kind} {who.name}"
    )
    return {"success": True, "agent": {**as_json(made), "system_prompt": made.prompt}}


@router.delete("/{name}")
async def delete_agent(name: str, service: AgentsDependency, who: CallerDependency) -> dict[str, bool]:
    """Remove an agent of the vault."""
    await service.delete(name, f"{who.kind} {who.name}")
    return {"success": True}


def as_json(agent: Agent) -> dict[str, Any]:
    """An agent as the app reads it, with our own additions."""
    return {
        "name": agent.name,
        "description": agent.description or None,
        "type": "chatbot",
        "model": agent.model,
        # By its path the app has an agent answer, which those of the vault do.
        "path": None if agent.source == "plugin" else agent.path,
        "source": agent.source,
        "tools": list(agent.tools or ()),
        "system_prompt": None,
        "system_prompt_preview": agent.prompt[:_PREVIEW] or None,
        "permissions": None if agent.commands is None else {"bash": list(agent.commands)},
        "constraints": None,
        "mcp_servers": None if agent.mcp_servers is None else list(agent.mcp_servers),
        "spawns": [],
        "skills": None if agent.skills is None else list(agent.skills),
        "problem": agent.problem,
        "etag": etag_of(agent.content),
    }


def _own() -> list[dict[str, Any]]:
    agents = (Agent(name, text, "", None, None, None, "builtin", "") for name, text in BUILT_IN.items())
    return [{**as_json(agent), "path": None} for agent in agents]
