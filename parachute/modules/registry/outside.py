"""Folders outside of the vault that a user agreed to and that no agent gets, since the settings do not let agents work there."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from parachute.base.errors import ParachuteError
from parachute.core.patterns import Pattern
from parachute.modules.manifest.models import Manifest
from parachute.modules.registry.models import ModuleStatus, Trust
from parachute.sandbox.engines.advice import advice


def with_not_given(
    status: ModuleStatus, manifest: Callable[[str], Manifest], projects: Sequence[Path] | None
) -> ModuleStatus:
    """The status of a module with these folders, where the `projects` of the settings are known; waits for the disk."""
    if projects is None or status.trust_level is Trust.UNTRUSTED:
        return status
    with suppress(ParachuteError, OSError):  # one that cannot be read does not start, and says itself why
        return replace(status, not_given=not_given(manifest(status.name), projects))
    return status


def not_given(manifest: Manifest, projects: Sequence[Path]) -> tuple[str, ...]:
    """A sentence with what to do for each such folder of the module's agents."""
    found: dict[str, list[str]] = {}
    for name, agent in manifest.agents.items():
        if agent.sandbox is not None and agent.sandbox.workspace_access != "none":
            for path in agent.sandbox.allowed_paths:
                if path.startswith("~/") and not _is_project(_folder(path), projects):
                    found.setdefault(path, []).append(name)
    return tuple(
        f"{path} is not given to {', '.join(names)}: it is below none of `project_folders`. {advice(_folder(path), projects)}"
        for path, names in found.items()
    )


def _folder(path: str) -> Path:
    return Path.home().joinpath(*Pattern.parse(path[2:]).literal)


def _is_project(folder: Path, projects: Sequence[Path]) -> bool:
    return any(folder != root and folder.is_relative_to(root) for root in projects)
