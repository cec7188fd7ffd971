"""What is known of a module, and where its files lie."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from parachute.files import private_folder
from parachute.settings.home import Home


class Trust(StrEnum):
    """Who vouches for a module."""

    VERIFIED = "verified"
    """Its hash is in the list that came with this program."""
    TRUSTED = "trusted"
    """The user read its consent screen and approved it."""
    UNTRUSTED = "untrusted"
    """The user let it run shut in: no network, and only its own folder."""


class State(StrEnum):
    """Whether a module may start."""

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


@dataclass(frozen=True, slots=True)
class InstalledModule:
    """One entry of the registry; `hash` and `packages_hash` have the form `sha256:<64 hex digits>`.

    `permissions` is the consent as it was approved, `path` the folder inside of the source, `dev` the folder in which
    the module runs in place. Without `approved_at` nothing was approved here. `declared`: the system's configuration has
    brought it, and takes it away again.
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

    @property
    def digest(self) -> str:
        """The hash as the name of a folder: without the colon, which would cut a search path in two."""
        return self.hash.removeprefix("sha256:")

    def switched(self, enabled: bool) -> "InstalledModule":
        """The same, enabled or disabled."""
        return replace(self, enabled=enabled)


@dataclass(frozen=True, slots=True)
class ModuleUnit:
    """What the process of a module is doing; `state` is a word of the supervisor, `backlog` counts events that wait for it."""

    state: str
    reason: str | None = None
    restarts: int = 0
    process: int | None = None
    backlog: int = 0

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "ModuleUnit":
        """Out of what core says; whatever else that holds is left out."""
        return cls(**{each.name: document[each.name] for each in fields(cls) if each.name in document})


@dataclass(frozen=True, slots=True)
class ModuleStatus:
    """A module as a person wants to see it; `folder` is its source, `reason` why it does not start.

    `unit` is None where nothing runs it, `confinement` holds a sentence for each limit that is not enforced. `declared`: the
    system's configuration says whether it is there, `problem` why it is not as that says.
    """

    name: str
    state: State
    folder: Path
    reason: str | None = None
    module: InstalledModule | None = None
    pending_hash: str | None = None
    unit: ModuleUnit | None = None
    confinement: tuple[str, ...] = ()
    declared: bool = False
    problem: str | None = None

    def told(self, row: Mapping[str, Any]) -> "ModuleStatus":
        """The same with what a running core says of it, as JSON."""
        told = self.beside(row.get("unit"), row.get("confinement") or ())
        if row.get("state") == State.INSTALLING:
            told = replace(told, state=State.INSTALLING, reason=row.get("reason"))
        return replace(told, problem=row.get("problem"))

    def beside(self, unit: Mapping[str, Any] | None, confinement: Iterable[str] = ()) -> "ModuleStatus":
        """The same with what core knows of the process."""
        return replace(self, unit=ModuleUnit.from_json(unit) if unit else None, confinement=tuple(confinement))

    def as_json(self) -> dict[str, Any]:
        """For the API and `--json`; `trust_level` is the name under which the app reads the trust."""
        module = self.module
        return {
            "name": self.name,
            "state": str(self.state),
            "reason": self.reason,
            "folder": str(self.folder),
            "enabled": bool(module and module.enabled),
            "version": module.version if module else None,
            "trust_level": str(module.trust) if module else str(Trust.UNTRUSTED),
            "source": module.source if module else None,
            "path": module.path if module else None,
            "dev": bool(module and module.dev),
            "hash": module.hash if module else None,
            "pending_hash": self.pending_hash,
            "permissions": module.permissions if module else None,
            "approved_at": module.approved_at.isoformat() if module and module.approved_at else None,
            "unit": asdict(self.unit) if self.unit else None,
            "confinement": list(self.confinement),
            "declared": self.declared,
            "problem": self.problem,
        }


@dataclass(frozen=True, slots=True)
class Limits:
    """What an installation may take; sizes in bytes."""

    files: int = 20_000
    source_bytes: int = 200 * 1024 * 1024
    """Of the module itself, without the history of its repository."""
    clone_bytes: int = 500 * 1024 * 1024
    """Of what git fetches, in packed form."""
    clone_seconds: float = 600
    packages_bytes: int = 2 * 1024 * 1024 * 1024
    packages_seconds: float = 1800
    wait_seconds: float = 600
    """For another installation to end."""


class Progress(Protocol):
    """Where an installation says what it does."""

    def step(self, text: str) -> None:
        """One line that stays."""

    def detail(self, text: str) -> None:
        """A line that the next one replaces."""


class Silent:
    """A progress that nobody watches."""

    def step(self, text: str) -> None:
        """Say nothing."""

    def detail(self, text: str) -> None:
        """Say nothing."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where modules lie: sources in the vault, everything that runs in the folder of trust."""

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
        return self.sources / name

    def copy(self, name: str, digest: str) -> Path:
        """The folder with `code`, `packages`, `lock.txt` and `wheels` of one approved content."""
        return self.copies / name / digest

    def data(self, name: str) -> Path:
        """The private data of a module; it may not exist."""
        return self.home.root / "module-data" / name

    @property
    def settings(self) -> Path:
        """What the user set for modules, one file each; it may not exist."""
        return self.home.root / "module-settings"

    def specification(self, name: str) -> Path:
        """What core last told the unit of a module to run; it may not exist."""
        return self.home.root / "run" / "module" / name / "spec.json"
