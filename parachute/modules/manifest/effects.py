"""Fields of a manifest without effect: the specification has them, and here they change nothing."""

from collections.abc import Iterator

from parachute.core.agents import WORKING_DIRECTORY, AgentConfig, SandboxConfig
from parachute.modules.manifest.interface_rights import without_permission
from parachute.modules.manifest.models import Manifest

_ASKING = {
    "AskUserQuestion": "agents of modules cannot ask questions",
    "Computer": "no agent operates a screen",
}
_NO_FOLDER = "an agent of a module has no working directory of yours"
_PLAIN = SandboxConfig()


def without_effect(manifest: Manifest) -> tuple[str, ...]:
    """Return a line for each field that changes nothing, with the reason."""
    found = [line for name, agent in manifest.agents.items() for line in _of_agent(f"agents.{name}", agent)]
    found += [
        f"hooks: async of {hook.event}: events are always asynchronous" for hook in manifest.hooks if hook.is_async
    ]
    if manifest.ui is not None and manifest.ui.entry:
        found.append("ui.entry: no app shows a module's own page")
    return (*found, *without_permission(manifest))


def _of_agent(place: str, agent: AgentConfig) -> Iterator[str]:
    for name, reason in _ASKING.items():
        if name in agent.capabilities:
            yield f"{place}.capabilities: {name}: {reason}"
    if "Skill" in agent.capabilities and not agent.allow_user_skills:
        yield f"{place}.capabilities: Skill: skills come with allow_user_skills: true"
    if agent.load_cwd_claude_md:
        yield f"{place}.load_cwd_claude_md: {_NO_FOLDER}"
    if agent.allow_workspace_skills:
        yield f"{place}.allow_workspace_skills: it belongs to no workspace"
    sandbox = agent.sandbox
    if sandbox is None:
        return
    for path in sandbox.allowed_paths:
        if path.startswith(WORKING_DIRECTORY):
            yield f"{place}.sandbox.allowed_paths: {path}: {_NO_FOLDER}"
    if not sandbox.read_only_root:
        yield f"{place}.sandbox.read_only_root: it is read-only in every sandbox"
    if sandbox.cap_drop != _PLAIN.cap_drop:
        yield f"{place}.sandbox.cap_drop: every sandbox drops all of them"
