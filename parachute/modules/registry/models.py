"""Installed modules, their status and the paths of their files."""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from msgspec import Struct, convert, field
from msgspec.structs import replace

from parachute.base.answers import Answer
from parachute.base.files import private_folder
from parachute.config.settings.home import Home
from parachute.modules.manifest.consents import Consent
from parachute.modules.registry.agent_limits import AgentLimit


class Trust(StrEnum):
    """The trust in a module's content."""

    VERIFIED = "verified"
    """Its hash is in the list that came with this program."""
    TRUSTED = "trusted"
    """The user read its consent screen and approved it."""
    UNTRUSTED = "untrusted"
    """The user lets it run without network and with its own folder only."""


class State(StrEnum):
    """The state of a module: whether it may start."""

    READY = "ready"
    DISABLED = "disabled"
    PENDING = "pending_approval"
    MISSING = "missing"
    """Its folder in the vault is gone."""
    DAMAGED = "damaged"
    """The verified copy is not what was approved."""
    INSTALLING = "installing"
    """The system's configuration declares it, and it is on its way."""
    NOT_INSTALLED = "not_installed"
    """A folder in the vault that nobody approved on this computer, such as after a restore."""


class InstalledModule(Struct, frozen=True):
    """One entry of the registry; `hash` and `packages_hash` have the form `sha256:<64 hex digits>`.

    `permissions` is the consent as it was approved, `path` the folder inside of the source, `dev` the folder in which
    the module runs in place. Without `approved_at` nothing was approved here. `declared`: the system's configuration has
    brought it, and takes it away again. `agents` are the owner's limits of its agents.
    """

    name: str
    enabled: bool
    source: str
    trust: Trust
    hash: str
    version: str = ""
    path: str | None = None
    dev: Path | None = None
    packages_hash: str | None = None
    permissions: dict[str, Any] | None = None
    approved_at: datetime | None = None
    declared: bool = False
    agents: Mapping[str, AgentLimit] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The hash as the name of a folder: without the colon, which would cut a search path in two."""
        return self.hash.removeprefix("sha256:")

    def switched(self, enabled: bool) -> "InstalledModule":
        """The same, enabled or disabled."""
        return dataclasses.replace(self, enabled=enabled)


class ModuleUnit(Answer, frozen=True):
    """The unit of a module; `state` is the supervisor's word, `backlog` counts events that wait for it."""

    state: str
    reason: str | None = None
    restarts: int = 0
    process: int | None = None
    backlog: int = 0


class ModuleStatus(Answer, frozen=True):
    """The status of a module; `folder` is its source, `reason` why it does not start.

    `permissions` is what was approved. `unit` is None where nothing runs it, `confinement` holds a sentence for each limit that is
    not enforced. `declared`: the system's configuration says whether it is there, `problem` why it is not as that says.
    `not_given` holds a sentence for each folder that was agreed to and that the settings do not give to agents; only of a module
    that is asked for by its name.
    """

    name: str
    state: State
    reason: str | None
    folder: str
    enabled: bool = False
    version: str | None = None
    trust_level: Trust = Trust.UNTRUSTED
    source: str | None = None
    path: str | None = None
    dev: bool = False
    hash: str | None = None
    pending_hash: str | None = None
    author: str | None = None
    title: str | None = None
    icon: str | None = None
    permissions: Consent | None = None
    agent_limits: Mapping[str, AgentLimit] = {}
    approved_at: str | None = None
    unit: ModuleUnit | None = None
    confinement: tuple[str, ...] = ()
    declared: bool = False
    problem: str | None = None
    not_given: tuple[str, ...] = ()

    def with_row(self, row: Mapping[str, Any]) -> "ModuleStatus":
        """The status with the row that a running server gives of it."""
        found = self.with_unit(row.get("unit"), row.get("confinement") or ())
        if row.get("state") == State.INSTALLING:
            found = replace(found, state=State.INSTALLING, reason=row.get("reason"))
        return replace(found, problem=row.get("problem"))

    def with_unit(self, unit: Mapping[str, Any] | None, confinement: Iterable[str] = ()) -> "ModuleStatus":
        """The status with the unit's state."""
        return replace(self, unit=convert(unit, ModuleUnit) if unit else None, confinement=tuple(confinement))


class Places(Struct, frozen=True):
    """Paths of modules: sources in the vault, everything that runs in the state directory."""

    home: Home
    vault: Path

    @property
    def registry(self) -> Path:
        """The list of what is installed."""
        return self.home.root / "modules.yaml"

    @property
    def copies(self) -> Path:
        """Verified copies, one folder a module, and in it one a hash."""
        return private_folder(self.home.root / "modules")

    @property
    def sources(self) -> Path:
        """The folder of sources in the vault; it may not exist."""
        return self.vault / ".modules"

    def source(self, name: str) -> Path:
        """The source of a module, which the user may read and edit."""
        return self.vault / f".modules/{name}"

    def copy(self, name: str, digest: str) -> Path:
        """The folder with `code`, `packages`, `lock.txt` and `wheels` of one approved content; it may not exist."""
        return self.home.root / f"modules/{name}/{digest}"

    def data(self, name: str) -> Path:
        """The private data of a module; it may not exist."""
        return self.home.root / "module-data" / name

    @property
    def settings(self) -> Path:
        """The folder of module settings, one file each; it may not exist."""
        return self.home.root / "module-settings"

    def specification(self, name: str) -> Path:
        """The specification that the unit of a module was last given; it may not exist."""
        return self.home.root / "run" / "module" / name / "spec.json"


class RunningModules(ABC):
    """The processes of modules, which a wing above knows."""

    @abstractmethod
    async def restart(self, name: str) -> None:
        """End the process of a module; errors: NotFound, Conflict, Unavailable."""

    @abstractmethod
    async def unit_states(self) -> dict[str, dict[str, Any]]:
        """The state of each module's unit; error: Unavailable."""
