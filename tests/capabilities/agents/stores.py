"""Stores of agents for tests."""

from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.capabilities.agents.store import AgentStore
from parachute.config.vault.service import Vault
from parachute.security.approved_prompts import ApprovedPrompts


def agent_store(vault: Vault, home: Path | None = None, projects: tuple[Path, ...] = ()) -> AgentStore:
    """The agents of a vault, and of projects; approvals lie next to the vault."""

    def is_project(folder: Path) -> Path:
        if folder not in projects:
            raise InvalidInput("no project")
        return folder

    return AgentStore(vault, ApprovedPrompts(vault.root.parent), home, is_project)
