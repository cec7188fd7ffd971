"""What the maintenance agent is given: logs and code to read, data to write, no network, and nothing of the folder of trust."""

import asyncio
import json
from dataclasses import dataclass, replace
from pathlib import Path

from parachute.agents.models import AgentSpecification
from parachute.agents.tools import shown_names
from parachute.errors import Unavailable
from parachute.files import atomic_write, private_folder
from parachute.maintenance.facts import Facts
from parachute.maintenance.folders import DataFolders, data_folders
from parachute.maintenance.logs import copy_logs, problems
from parachute.maintenance.redaction import redacted
from parachute.maintenance.tools import suggest_setting
from parachute.module_agents.profile import RUN_SECONDS
from parachute.module_agents.prompt import describe_box
from parachute.modules.tree import remove
from parachute.permissions.policy import Policy
from parachute.prompts.service import Prompt
from parachute.runs.preparation import Preparation, Services
from parachute.sandbox.limits import Limits
from parachute.sandbox.models import Mount, session_id
from parachute.sessions.models import Owner, Session
from parachute.suggestions.models import Source
from parachute.suggestions.service import Suggestions

AGENT = "maintenance"
"""The name of the agent, and of the part of the computer to which its conversations belong; no module can have it."""

LOGS_INSIDE, MODULES_INSIDE = "/logs", "/modules"
_TOOLS = ("Read", "Write", "Edit", "Glob", "Grep", "Bash")
_LIMITS = Limits(memory_megabytes=1024, cpus=2.0, processes=384)
"""Memory and processors as in spec 000; processes with those of the agent's program itself."""

_PROBLEM_CHARACTERS = 3000

Warnings = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class MaintenanceProfile:
    """Prepares the turns of the maintenance agent; `prompt` is what it is told."""

    services: Services
    facts: Facts
    suggestions: Suggestions
    prompt: str
    owner: Owner
    seconds: float = RUN_SECONDS

    async def prepare(self, session: Session, *, resume: bool) -> Preparation:
        """Copy the logs, open the line to the model and prepare the box; error: ParachuteError."""
        services = self.services
        line = await services.gateway.open(session.id, searches=False)
        try:
            mounts, data = await asyncio.to_thread(self._gather, session.id)
        except OSError as error:
            raise Unavailable(f"The logs cannot be copied for the agent: {error.strerror or error}.") from error
        execution = await services.sandboxes.confine(session.id, line, mounts, egress=False, limits=_LIMITS)
        provider = services.gateway.provider
        offline = provider.name == "offline"
        warnings: Warnings = tuple(("Read only", sentence) for sentence in data.read_only)
        if not resume:
            told = "It works without network, in a conversation of its own."
            warnings = (("Maintenance agent", told), *warnings)
        execution = replace(execution, warnings=warnings)
        own = () if offline else (suggest_setting(self.suggestions, Source(AGENT, session=session.id)),)
        policy = Policy(
            level="sandboxed",
            vault=services.vault.root,
            home=services.home.root,
            working_directory=Path(execution.directory),
            allowed_tools=() if offline else (*_TOOLS, *shown_names(own)),
            mcp_tools=shown_names(own),
            mapped_roots={mount.target: Path(mount.source) for mount in data.mounts},
        )
        text = f"{self.prompt}\n\n# Where you are\n{describe_box(mounts, ())} {policy.describe()}"
        if offline:
            text += await asyncio.to_thread(self._without_tools, session.id)
        specification = AgentSpecification(
            session=session.id,
            resume=resume,
            execution=execution,
            line=line,
            system_prompt=text,
            tools=() if offline else _TOOLS,
            model=provider.model or session.model or services.settings.model,
            asks_questions=False,
            module_tools=own,
        )
        prompt = Prompt(text, source=AGENT, agent_name=AGENT, base_characters=len(self.prompt))
        return Preparation(execution, prompt, policy, specification, provider)

    async def finish(self, session: str) -> None:
        """Remove the copies."""
        await asyncio.to_thread(remove, copies_folder(self.services.home.root, session))

    def _gather(self, session: str) -> tuple[tuple[Mount, ...], DataFolders]:
        services, home = self.services, self.services.home.root.resolve()
        copies = copies_folder(home, session)
        remove(copies)
        for folder in (copies.parent, copies):
            private_folder(folder)
        secrets = self.facts.secrets()
        copy_logs(services.home.logs, services.vault.state / "audit", copies, secrets)
        state = json.dumps(self.facts.state(), indent=1, ensure_ascii=False)
        atomic_write(copies / "computer.json", redacted(state, secrets))
        data = data_folders(services.vault, home)
        code = (Mount(str(path), f"{MODULES_INSIDE}/{name}") for name, path in self.facts.code().items())
        mounts = (*data.mounts, Mount(str(copies), LOGS_INSIDE, required=True), *code)
        return tuple(sorted(mounts, key=lambda mount: mount.target)), data

    def _without_tools(self, session: str) -> str:
        found = problems(copies_folder(self.services.home.root, session), _PROBLEM_CHARACTERS)
        said = found or "none"
        return f"\n\nYou have no tools, and cannot read any file. The last warnings and errors of the log:\n{said}"


def copies_folder(home: Path, session: str) -> Path:
    """Where the copies for a conversation lie while it is being answered; error: InvalidInput for what is no id."""
    return home / "run" / AGENT / session_id(session)
