"""Composition of the system prompt of a turn, after it is known where the turn runs."""

from collections.abc import Callable
from importlib.resources import files as package_files
from pathlib import Path

from msgspec import Struct, field

from parachute.base.errors import NotFound
from parachute.chat.contexts.models import NO_CONTEXT, Chain
from parachute.chat.contexts.texts import text_of
from parachute.chat.prompts.answering_agents import AnsweringAgent, AnsweringAgents
from parachute.config.vault.service import Vault
from parachute.sandbox import layout
from parachute.sandbox.egress.models import Network
from parachute.sandbox.engines.execution import Execution

_GIT = (
    "git fetches from and pushes to repositories that the owner allows; their credentials are added outside, and you have "
    "none. Another repository is refused with a sentence that says what to do."
)


class Prompt(Struct):
    """A composed prompt, and what the app shows of it in the event `prompt_metadata`."""

    text: str
    source: str = "default"
    source_path: str | None = None
    agent_name: str | None = None
    context_files: list[str] = field(default_factory=list)
    context_tokens: int = 0
    context_truncated: bool = False
    base_characters: int = 0
    """Characters of `text` before the instructions."""
    preset: bool = False
    """The prompt for coding of the agent's program goes before `text`."""
    working_directory_file: str | None = None
    left_out: list[str] = field(default_factory=list)
    """Files that would have been part of it, and are not approved for conversations that run directly."""
    problems: list[str] = field(default_factory=list)
    """A sentence for each chosen context that brings nothing."""
    by_agents: tuple[Path, ...] = ()
    """Files of the instructions that an agent wrote and the owner has not seen."""

    @property
    def place(self) -> str:
        """The part that holds for helpers of the agent, too: instructions, where it is, and what it may do."""
        return self.text[self.base_characters :]


class Kind(Struct, frozen=True):
    """The prompt of a kind of conversation, and where it is from; `left_out` is a file that is not approved to replace it."""

    text: str
    source: str
    left_out: str | None = None


class Prompts:
    """Builds prompts; blocking, call it from a thread.

    `kinds` gives those that a module brings, by name; `is_approved` says whether a file, by its name and text, may steer what
    runs with the owner's rights.
    """

    def __init__(
        self,
        vault: Vault,
        kinds: Callable[[str], Kind | None] = lambda name: None,
        is_approved: Callable[[str, str], bool] = lambda name, text: False,
        agents: AnsweringAgents | None = None,
    ) -> None:
        self._vault = vault
        self._kinds = kinds
        self._is_approved = is_approved
        self._agents = agents
        self._default = (
            package_files("parachute.chat.prompts").joinpath("default.md").read_text(encoding="utf-8").strip()
        )

    @property
    def default(self) -> str:
        """The text for an agent that has none of its own."""
        return self._default

    def compose(
        self,
        execution: Execution,
        permissions: str,
        *,
        custom: str | None = None,
        agent: AnsweringAgent | None = None,
        directory: Path | None = None,
        context: Chain = NO_CONTEXT,
        notes: tuple[str, ...] = (),
    ) -> Prompt:
        """A prompt: the agent's or a custom text, the files of its context, and the permissions.

        In a project the program's own prompt for coding goes before it, unless an agent or a custom text takes its place. A custom
        text replaces the first two. What runs directly gets only files that are approved, since agents in sandboxes
        and others could have written them. `notes` say when to use tools of the computer's own.
        """
        is_direct = execution.mode == "direct"
        if custom:
            prompt = Prompt(custom, source="custom")
        elif agent and (not is_direct or self._is_approved(agent.path, agent.content)):
            prompt = Prompt(agent.prompt, source="agent", source_path=agent.path, agent_name=agent.name)
        elif kind := self._kinds(_kind(execution, directory)):
            prompt = Prompt(kind.text, source="module", source_path=kind.source)
            prompt.left_out += [kind.left_out] if kind.left_out else []
        else:
            prompt = Prompt(self._default)
        if agent and prompt.source not in ("agent", "custom"):
            prompt.left_out = [agent.path]
        prompt.preset = directory is not None and prompt.source in ("module", "default")
        prompt.base_characters = len(prompt.text)
        if not custom:
            _add_context(prompt, context)
        prompt.text += f"\n\n# Where you are\n{_place(execution)} {permissions}".rstrip()
        prompt.text += "".join(f"\n\n{note}" for note in notes)
        return prompt

    def agent(self, agent_path: str) -> AnsweringAgent:
        """The agent that a message names; errors: NotFound, InvalidInput for one that cannot be obeyed."""
        if self._agents is None:
            raise NotFound(f"agentPath: there is no agent {agent_path[:200]!r}.", key="no_such_agent")
        return self._agents.find(agent_path)


def _add_context(prompt: Prompt, context: Chain) -> None:
    if text := text_of(context):
        prompt.text += f"\n\n{text}"
    prompt.context_files += [file.path for file in context.included]
    prompt.context_tokens, prompt.context_truncated = context.tokens, context.is_cut
    prompt.left_out += context.left_out
    prompt.problems += context.problems
    prompt.working_directory_file = context.working_directory_file
    prompt.by_agents = tuple(file.real for file in context.included if file.is_by_agent)


def _kind(execution: Execution, directory: Path | None) -> str:
    if execution.mode == "direct":
        return "trusted"
    return "default" if directory is None else "workspace"


def _place(execution: Execution) -> str:
    if execution.mode == "direct":
        return f"You work directly on the owner's computer, in {execution.directory}."
    parts = [_network(execution.network)]
    if layout.is_in(execution.directory, layout.SCRATCH):
        parts.append("Your working directory is your private scratch space.")
    elif execution.directory not in execution.writable:
        parts.append(f"Your project directory is {execution.directory}, which you can only read.")
    elif execution.view is not None:
        parts.append(
            f"Your project directory is {execution.directory}, a copy of the owner's: what you write there is brought to theirs "
            "after each step. Configuration of git, editors, shells and agents, hooks and new repositories wait for the owner, "
            "as does what they changed meanwhile; commits do not."
        )
    else:
        parts.append(
            f"Your project directory is {execution.directory}. Hooks and configuration of git, and settings of editors and "
            "agents, can only be read in it; you can commit, but the owner has to run `git init`."
        )
    return " ".join([*parts, *layout.sentences(execution.targets)])


def _network(network: Network) -> str:
    return f"{_hosts(network)} {_GIT}{_repositories(network)}" if network.is_open else _hosts(network)


def _repositories(network: Network) -> str:
    return f" These repositories are: {', '.join(network.repositories)}." if network.repositories else ""


def _hosts(network: Network) -> str:
    if network.mode == "off":
        return "You work in a sandbox without network."
    reached = f" These hosts are allowed: {', '.join(network.hosts)}." if network.hosts else ""
    if network.mode == "list":
        return (
            f"You work in a sandbox that reaches the network through the proxy in HTTPS_PROXY.{reached} No others are."
        )
    return (
        f"You work in a sandbox that reaches the network through the proxy in HTTPS_PROXY.{reached} Any other host is refused "
        "at first, and the owner is asked: then say what it is needed for, and go on without it or end."
    )
