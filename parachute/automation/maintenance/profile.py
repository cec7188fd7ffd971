"""The profile of the maintenance agent: it reads logs and code, writes data, and has no network and nothing of the state directory."""

import asyncio
import json
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from parachute.automation.maintenance.facts import Facts
from parachute.automation.maintenance.folders import DataFolders, data_folders
from parachute.automation.maintenance.logs import copy_logs, problems
from parachute.automation.maintenance.tools import suggest_setting
from parachute.automation.module_agents.profile import RUN_SECONDS
from parachute.automation.module_agents.prompt import in_sandbox
from parachute.automation.suggestions.models import Source
from parachute.automation.suggestions.service import Suggestions
from parachute.base.errors import Unavailable
from parachute.base.files import atomic_write, private_folder, remove_tree
from parachute.base.redaction import redacted
from parachute.chat.prompts.service import Prompt
from parachute.chat.runs.confined import confined
from parachute.chat.runs.preparation import AgentServices, Preparation, TurnPlan, compose
from parachute.chat.sessions.models import Owner, Session
from parachute.sandbox.engines.limits import Limits
from parachute.sandbox.engines.models import Mount, session_id
from parachute.security.origin import Origin

AGENT = "maintenance"
"""The name of the agent, and of the part of the computer to which its conversations belong; no module can have it."""

LOGS_INSIDE, MODULES_INSIDE = "/logs", "/modules"
_TOOLS = ("Read", "Write", "Edit", "Glob", "Grep", "Bash")
_LIMITS = Limits(memory_megabytes=1024, cpus=2.0, processes=384)
"""Memory and processors as in spec 000; processes with those of the agent's program itself."""

_PROBLEM_CHARACTERS = 3000

Warnings = tuple[tuple[str, str], ...]


class MaintenanceProfile(Struct):
    """Prepares the turns of the maintenance agent."""

    services: AgentServices
    facts: Facts
    suggestions: Suggestions
    prompt: str
    owner: Owner
    seconds: float = RUN_SECONDS
    origin: Origin = Origin.AGENT_FILE

    async def prepare(self, session: Session, *, resume: bool) -> Preparation:
        """Copy the logs, open the model endpoint and prepare the sandbox; error: ParachuteError."""
        services = self.services
        provider = services.gateway.upstream.chosen(session.model)
        endpoint = await services.gateway.open(session.id, wanted=session.model)
        try:
            mounts, data = await asyncio.to_thread(self._gather, session.id)
        except OSError as error:
            raise Unavailable(
                f"The logs cannot be copied for the agent: {error.strerror or error}.", key="logs_not_copied"
            ) from error
        execution = await confined(services, endpoint, mounts, egress=False, limits=_LIMITS)
        warnings: Warnings = tuple(("Read only", sentence) for sentence in data.read_only)
        if not resume:
            warnings = (("Maintenance agent", "It works without network, in a conversation of its own."), *warnings)
        # Without the copies: they lie in the state directory, which the rules refuse.
        roots = {mount.target: Path(mount.source) for mount in data.mounts}
        execution = replace(execution, warnings=warnings, roots=roots)
        tools = () if provider.is_offline else (suggest_setting(self.suggestions, Source(AGENT, session=session.id)),)
        end = await asyncio.to_thread(self._without_tools, session.id) if provider.is_offline else ""
        has_view = execution.view is not None
        own = Prompt(self.prompt, source=AGENT, agent_name=AGENT)
        prompt = partial(in_sandbox, own, mounts, (), has_view=has_view, end=end)
        return await compose(services, TurnPlan(session, resume, endpoint, execution, provider, prompt, _TOOLS, tools))

    async def finish(self, session: str) -> None:
        """Remove the copies."""
        await asyncio.to_thread(remove_tree, copies_folder(self.services.home.root, session))

    def _gather(self, session: str) -> tuple[tuple[Mount, ...], DataFolders]:
        services, home = self.services, self.services.home.root.resolve()
        copies = copies_folder(home, session)
        remove_tree(copies)
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
        return f"\n\nYou have no tools, and cannot read any file. The last warnings and errors of the log:\n{found or 'none'}"


def copies_folder(home: Path, session: str) -> Path:
    """The folder with the copies for a conversation while it is being answered; error: InvalidInput for what is no id."""
    return home / "run" / AGENT / session_id(session)
