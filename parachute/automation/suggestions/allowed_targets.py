"""The modules for which an agent or module may make suggestions: what the user agreed to, never what a module says at the time."""

from parachute.automation.suggestions.models import Source
from parachute.automation.suggestions.own_targets import OWN_TARGETS
from parachute.base.errors import NotAllowed
from parachute.modules.runtime.models import ApprovedModule


def targets_of_agent(module: ApprovedModule, agent: str) -> tuple[str, ...]:
    """The modules for which an agent of the manifest may make suggestions; none for any other, such as the default one."""
    config = module.manifest.agents.get(agent)
    return tuple(sorted(set(config.can_suggest))) if config else ()


def targets_of_module(module: ApprovedModule) -> tuple[str, ...]:
    """The modules for which a module itself may: those of any of its agents."""
    return tuple(sorted({target for config in module.manifest.agents.values() for target in config.can_suggest}))


def check_allowed(module: ApprovedModule, source: Source, target: str) -> None:
    """Error: NotAllowed, with those for which it may; never for what is the computer's own, whatever a manifest says."""
    allowed = targets_of_agent(module, source.agent) if source.agent else targets_of_module(module)
    if source.targets is not None:
        allowed = tuple(name for name in targets_of_module(module) if name in source.targets)
    check_target(
        source, target, allowed, "Name it under can_suggest of an agent; the user sees it before the agent runs."
    )


def check_target(source: Source, target: str, allowed: tuple[str, ...], hint: str | None = None) -> None:
    """Error: NotAllowed for a module that is none of those allowed."""
    if target not in allowed or target in OWN_TARGETS:
        raise NotAllowed(
            f"target_module: {source.name} may not make suggestions for {target[:40]!r}; it may for: "
            f"{', '.join(allowed) or 'none'}.",
            hint,
            key="target_not_permitted",
        )
