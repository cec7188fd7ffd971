"""Models of agent processes: their specification, their tools, and the turn that they work for."""

import hashlib
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import astuple

from parachute.llm.gateway.endpoint import ModelEndpoint
from parachute.modules.runtime.models import OfferedTool
from parachute.sandbox.engines.execution import Execution
from parachute.security.origin import Origin
from parachute.security.permissions.actions import MODULE_SERVER, server_tool_name


class OwnTool(OfferedTool, Struct, frozen=True, kw_only=True):
    """A tool of the computer itself that one run has, and nobody else; `call` checks the arguments and answers the agent.

    `prompt` is what the system prompt says of it, `origin` that of what it answers, None where that is the computer's own word,
    `described` that of what it says of itself. `reads` is the field of its input that names a file of the agent's.
    """

    call: Callable[[dict[str, Any]], Coroutine[Any, Any, str]]
    prompt: str = ""
    reads: str = ""
    origin: Origin | None = None
    described: Origin = Origin.OWNER


class ServerTool(OwnTool, Struct, frozen=True, kw_only=True):
    """A tool of one of the user's own MCP servers, of which `server` is the name."""

    server: str


def shown_name(tool: OfferedTool) -> str:
    """The name under which the agent's program and the policy know a tool."""
    return server_tool_name(tool.server if isinstance(tool, ServerTool) else MODULE_SERVER, tool.name)


class Helper(Struct, frozen=True):
    """An agent of the owner's to which another gives work with its tool Task; `tools` None are those of the other.

    `has_commands`: it may run whatever commands the other may, and otherwise none.
    """

    name: str
    description: str
    prompt: str
    tools: tuple[str, ...] | None = None
    model: str | None = None
    has_commands: bool = True


class Plugin(Struct, frozen=True):
    """A folder that the agent's program reads as a plugin, read-only; `digest` differs where its content does."""

    name: str
    folder: Path
    digest: str


class AgentSpecification(Struct, frozen=True):
    """Everything that is fixed when an agent process starts; `resume`: continue the session's transcript.

    `tools` are the program's own, `module_tools` those of modules; it has no others. `preset`: the program's own prompt for
    coding goes before `system_prompt`, of which `place` is the part that holds for helpers, too. `answers_once`: it answers
    a single question, without thinking before. `skills` are those that it may use of `plugins`, by their full names; where
    these lie for the agent, its execution says.
    """

    session: str
    resume: bool
    execution: Execution
    endpoint: ModelEndpoint
    system_prompt: str
    tools: tuple[str, ...]
    model: str | None
    asks_questions: bool
    module_tools: tuple[OfferedTool, ...] = ()
    preset: bool = False
    place: str = ""
    answers_once: bool = False
    helpers: tuple[Helper, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    skills: tuple[str, ...] = ()

    def fingerprint(self) -> str:
        """Equal for two specifications whose processes are interchangeable, whatever their session's id."""
        execution = self.execution
        parts = {
            "mode": execution.mode,
            "engine": execution.engine,
            "directory": execution.directory.replace(self.session, ""),
            "roots": sorted((inside, str(folder)) for inside, folder in execution.roots.items()),
            "cache": str(execution.cache or ""),
            "writable": [path.replace(self.session, "") for path in execution.writable],
            "limits": astuple(execution.limits),
            "prompt": self.system_prompt,
            "preset": self.preset,
            "tools": self.tools,
            "module_tools": [(shown_name(tool), tool.description, tool.input_schema) for tool in self.module_tools],
            "model": self.model,
            "questions": self.asks_questions,
            "helpers": [astuple(helper) for helper in self.helpers],
            "plugins": [(plugin.name, plugin.digest) for plugin in self.plugins],
            "skills": self.skills,
            "line": hashlib.sha256(self.endpoint.token.encode()).hexdigest(),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class ToolDecision(Struct, frozen=True):
    """The decision about a tool call; `allowed` None leaves the decision to the next step (a question to the person).

    `was_asked`: the owner has seen this very call and allowed it.
    """

    allowed: bool | None
    reason: str = ""
    was_asked: bool = False


class ModuleTools(Protocol):
    """The MCP tools of all enabled modules."""

    def tools(self) -> tuple[OfferedTool, ...]:
        """Return the tools on offer now; never waits."""

    async def call_tool(self, name: str, arguments: dict[str, Any], caller: str) -> str:
        """Call a tool for the session whose id is `caller`; errors: ParachuteError, for the agent to read."""


class TurnHandler(Protocol):
    """The turn that an agent process works for at the moment."""

    async def context(self) -> str:
        """Return what goes with the message that the agent is about to answer, empty for nothing."""

    async def compacting(self, trigger: str) -> None:
        """The program is about to replace most of the conversation with a summary, unasked or on request."""

    async def decide(self, tool: str, tool_input: dict[str, Any], call: str | None) -> ToolDecision:
        """Decide about a tool call."""

    def tool_made(self, call: str | None, answer: tuple[str, bool]) -> None:
        """The server has made a call that was decided about, and got a text, which may be an error."""

    def tool_progress(self, call: str, said: str) -> None:
        """A call that the server makes is so far."""

    async def ask(self, questions: list[dict[str, Any]], call: str | None) -> dict[str, Any]:
        """Put questions to the person and return the answers, empty if none come."""


class AgentFiles(Struct, frozen=True):
    """Files that starting an agent process needs."""

    wrapper: Path
    prompts: Path
    working_directory: Path
