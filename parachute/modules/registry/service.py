"""The service of installed modules: their state and every change of it."""

import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from parachute.base.answers import Answer
from parachute.base.errors import Conflict, ParachuteError
from parachute.base.files import remove_tree
from parachute.config.declared.file import load as load_declaration
from parachute.config.declared.models import DeclaredModule
from parachute.config.settings.home import Home
from parachute.modules.agent_definitions.brought import brought_agents
from parachute.modules.manifest.consents import ConsentDifference, difference
from parachute.modules.manifest.loading import load
from parachute.modules.manifest.models import NAME, Manifest
from parachute.modules.registry import dependencies
from parachute.modules.registry.agent_limits import AgentLimit, check_limit
from parachute.modules.registry.check import ModuleFiles, wanted
from parachute.modules.registry.consent import approved_consent, consent_of
from parachute.modules.registry.declared import Declarations
from parachute.modules.registry.installation import (
    Installation,
    Staging,
    stage_approval,
    stage_declared,
    stage_install,
)
from parachute.modules.registry.models import InstalledModule, ModuleStatus, Places, State
from parachute.modules.registry.names import check_name
from parachute.modules.registry.outside import with_not_given
from parachute.modules.registry.registry import Modules as Entries
from parachute.modules.registry.registry import Registry, entry_of, not_installed
from parachute.modules.registry.settings import ModuleSettings
from parachute.modules.registry.staging import one_at_a_time, opened_sources, staging_folder
from parachute.modules.registry.verification import CODE, Runnable, approved_manifest, check_fits_installed, verify
from parachute.modules.trees.changes import FileChange, file_changes
from parachute.modules.trees.hashing import read_tree
from parachute.modules.trees.known import KnownTrees
from parachute.modules.trees.models import Limits, Progress, Silent
from parachute.supervisor.logs import log_path, older

# Inside of the class below, `list` is a method.
Names = list[str]
Changes = list[FileChange]


class NotApproved(Conflict):
    """The content of the vault is not what the user approved."""

    key = "approval_pending"


class DeclaredProgress(Answer, frozen=True):
    """Modules that the system's configuration declares: the one that is being installed, and problems by name."""

    installing: str | None
    problems: Mapping[str, str]


class Modules:
    """All modules of one installation. Every method waits for the disk: call it outside of an event loop.

    What the system's configuration declares is read once. Error: DeclarationInvalid.
    """

    def __init__(
        self, home: Home, vault: Path, limits: Limits | None = None, projects: Sequence[Path] | None = None
    ) -> None:
        self.places = Places(home, vault)
        self.registry = Registry(self.places.registry)
        self.declared = Declarations(load_declaration())
        self.settings = ModuleSettings(self.places, self.declared.all)
        self.limits = limits or Limits()
        self.listeners: list[Callable[[str | None], Awaitable[None]]] = []
        """Callbacks of core after a change; they get the name of a module that the user has just enabled."""
        self._projects = projects
        self._sources = KnownTrees()

    def recover(self) -> bool:
        """Undo what was killed in the middle, unless another program is at it: False then. Error: RegistryUnreadable.

        Core does this when it starts, and every installation before it begins.
        """
        try:
            with one_at_a_time(self.places, self.registry, 0, Silent()):
                return True
        except Conflict:
            return False

    def installed(self) -> tuple[InstalledModule, ...]:
        """All entries of the registry, by name, disabled where that is declared; error: RegistryUnreadable."""
        found = map(self.declared.in_force, self.registry.load().values())
        return tuple(sorted(found, key=lambda module: module.name))

    def list(self) -> list[ModuleStatus]:
        """All modules that are installed or declared, and other folders in the vault; error: RegistryUnreadable."""
        installed, folders = self.registry.load(), self._folders()
        names = {*installed, *folders, *self.declared.all.modules}
        return [self._described(name, installed, folders) for name in sorted(names)]

    def status(self, name: str) -> ModuleStatus:
        """One module, or one that is not installed but declared or a folder; errors: NotFound, RegistryUnreadable."""
        found = self._described(name, self.registry.load(), self._folders())
        return with_not_given(found, self.manifest, self._projects)

    def runnable(self, name: str) -> Runnable:
        """Verify every file of a module before its start.

        Errors: NotFound, Conflict if it is disabled, NotApproved, Damaged, NameNotAllowed, RegistryUnreadable.
        """
        module = self.registry.module(name)
        check_name(name)
        status = self._status(module)
        if status.state is State.DISABLED:
            raise Conflict(f"The module {name} is disabled.", f"parachute modules enable {name}", key="module_disabled")
        if status.state in (State.PENDING, State.MISSING):
            raise NotApproved(
                status.reason or "", None if module.dev else f"`parachute modules diff {name}` shows what changed."
            )
        if status.state is State.READY and not dependencies.fits(self.places.copy(name, module.digest)):
            module = self._rebuilt(name)
        return verify(self.places, module)

    def approved(self, name: str) -> Runnable:
        """The parts of a module's unit, unverified: its host verifies every file before it loads one.

        Packages are unpacked again for another interpreter. Errors: NotFound, NameNotAllowed, RegistryUnreadable, OSError, and
        NotApproved for one that runs in place and is to have other rights than the user agreed to.
        """
        check_name(name)
        module = self.registry.module(name)
        if module.dev and (other := _other_rights(module, module.dev)):
            raise NotApproved(other)
        copy = self.places.copy(name, module.digest)
        if not dependencies.fits(copy):
            module = self._rebuilt(name)
        return Runnable(module, module.dev or copy / CODE, copy / dependencies.PACKAGES, self.places.data(name))

    @contextmanager
    def installing(
        self,
        source: str,
        *,
        subfolder: str | None = None,
        untrusted: bool = False,
        dev: bool = False,
        folder: Path | None = None,
        progress: Progress | None = None,
    ) -> Iterator[Installation]:
        """Stage a module from a source, to be shown; only `finish` of the result puts it in place."""
        with self._staging(progress, self.limits.wait_seconds) as staging:
            yield stage_install(
                staging,
                source,
                subfolder=subfolder,
                untrusted=untrusted,
                dev=dev,
                folder=folder,
                check_free=self.declared.check_free,
            )

    @contextmanager
    def installing_declared(self, wanted: DeclaredModule, progress: Progress) -> Iterator[Installation]:
        """Stage a declared module; `finish` needs no question. Errors: NotAsDeclared, and those of any installation."""
        with self._staging(progress, self.limits.wait_seconds) as staging:
            yield stage_declared(staging, wanted, self.settings)

    @contextmanager
    def approving(self, name: str, progress: Progress | None = None, seconds: float = 0) -> Iterator[Installation]:
        """Stage what is in the vault now, to be shown; only `finish` of the result makes it what runs.

        Waits `seconds` for another program that changes modules; errors: Conflict, Declared.
        """
        self.registry.module(name)
        self.declared.check_free(name)
        with self._staging(progress, seconds) as staging:
            yield stage_approval(staging, name)

    def approve(self, name: str, seen: str, seconds: float = 0) -> None:
        """Put what is in the vault in place, if its hash is the one that the user saw; errors: those of `approving`, Conflict."""
        with self.approving(name, seconds=seconds) as installation:
            installation.check_seen(seen)
            if not installation.is_unchanged:
                installation.finish()

    def enable(self, name: str) -> ModuleStatus:
        """Let a module start again.

        Errors: NotFound, NameNotAllowed, Declared, DoesNotFit, and Damaged or ManifestInvalid if it cannot be
        compared with the others.
        """
        check_name(name)
        self.declared.check_switch(name, True)

        def enabled(entries: Entries) -> Entries:
            entry = entry_of(entries, name)
            # A module that was never approved is compared when it is.
            if entry.approved_at is not None:
                check_fits_installed(self.places, entries.values(), approved_manifest(self.places, entry))
            return {**entries, name: entry.switched(True)}

        self.registry.change(enabled)
        return self.status(name)

    def disable(self, name: str) -> ModuleStatus:
        """Keep a module from starting; errors: NotFound, Declared."""
        self.declared.check_switch(name, False)
        return self._status(self.registry.replace(name, lambda module: module.switched(False)))

    def limit(self, name: str, agent: str, limit: AgentLimit | None) -> ModuleStatus:
        """Limit an agent of a module further than its manifest does, or with None no further.

        Errors: those of `manifest`, NotFound, InvalidInput for a limit that gives more than there is.
        """
        manifest = self.manifest(name)
        check_limit(manifest, agent, limit or AgentLimit())

        def limited(module: InstalledModule) -> InstalledModule:
            others = {known: each for known, each in module.agents.items() if known != agent}
            return replace(module, agents={**others, agent: limit} if limit else others)

        return self._status(self.registry.replace(name, limited))

    @contextmanager
    def removing(self, name: str, purge: bool = False, seconds: float = 0) -> Iterator[InstalledModule]:
        """Take a module out of the registry, let the block end what runs of it, and remove its code after that.

        What it wrote into the vault stays, its private data and settings too unless `purge`, and the folder of a module
        that ran in place. Errors: NotFound, Declared, Conflict if another program changes modules.
        """
        self.declared.check_free(name)
        with one_at_a_time(self.places, self.registry, seconds, Silent()):
            module = self.registry.take(name)
            try:
                yield module
            finally:
                remove_tree(self.places.copies / name)
                if module.dev is None and not self.places.sources.is_symlink():
                    remove_tree(self.places.source(name), self.places.sources.parent)
                if purge:
                    self.settings.forget(name)
                    for path in self.private(name):
                        remove_tree(path)

    def private(self, name: str) -> tuple[Path, ...]:
        """Private files of a module, which only a removal with `purge` removes."""
        log = log_path(self.places.home, f"module@{name}")
        paths = (self.places.data(name), self.settings.path(name), log, older(log))
        return tuple(path for path in paths if os.path.lexists(path))

    def progress(self) -> DeclaredProgress | None:
        """Progress of reconciliation; None if no module is declared."""
        if not self.declared.all.modules:
            return None
        try:
            problems = self.declared.problems(self.registry.load())
        except ParachuteError as error:
            problems = dict.fromkeys(self.declared.all.modules, error.message)
        return DeclaredProgress(self.declared.reconciling, problems)

    def manifest(self, name: str) -> Manifest:
        """The manifest that the user approved; errors: NotFound, NotApproved, Damaged, ManifestInvalid."""
        module = self.registry.module(name)
        if module.approved_at is None:
            raise NotApproved(
                f"The module {name} was never approved on this computer.",
                f"parachute modules approve {name}",
                key="never_approved",
            )
        return approved_manifest(self.places, module)

    def changes(self, name: str) -> Changes:
        """Differences between the approved copy and the vault; errors: NotFound, TreeNotAllowed."""
        module = self.registry.module(name)
        if module.dev:
            return []
        source = self.places.source(name)
        return file_changes(self.places.copy(name, module.digest) / CODE, source)

    def permission_changes(self, name: str) -> tuple[ConsentDifference | None, str | None]:
        """The rights that a module in the vault has without approval, or the problem that prevents its approval."""
        module = self.registry.module(name)
        source = self.places.source(name)
        if source.is_symlink() or not source.is_dir():
            return None, f"There is no folder {source}."
        try:
            found = ModuleFiles.read(read_tree(source, limits=self.limits, wanted=wanted))
            found.check_installable()
            now = consent_of(found.manifest, found.agents, module.trust)
        except ParachuteError as error:
            return None, error.message
        before = approved_consent(module)
        return (None if before is None else difference(before, now)), None

    async def changed(self, enabled: str | None = None) -> None:
        """Notify the listeners of this process of a change; `enabled` is the module that was enabled by name."""
        for listener in self.listeners:
            await listener(enabled)

    @contextmanager
    def _staging(self, progress: Progress | None, seconds: float) -> Iterator[Staging]:
        progress = progress or Silent()
        with one_at_a_time(self.places, self.registry, seconds, progress), staging_folder(self.places) as staging:
            yield Staging(self.places, self.registry, self.limits, progress, staging)

    def _folders(self) -> Names:
        try:
            with opened_sources(self.places.sources) as sources:
                return [entry.name for entry in sources.entries() if NAME.fullmatch(entry.name) and entry.is_dir()]
        except OSError:
            return []  # there is no such folder, or a link in its place

    def _described(self, name: str, installed: Entries, folders: Names) -> ModuleStatus:
        folder = self.places.source(name)
        if name in installed:
            found = self._status(installed[name])
        elif name in folders:
            reason = f"It was not approved on this computer. To install it: parachute modules install {folder}; or delete it."
            found = ModuleStatus(name, State.NOT_INSTALLED, reason, str(folder))
        elif self.declared.find(name):
            found = ModuleStatus(name, State.NOT_INSTALLED, None, str(folder))
        else:
            raise not_installed(name)
        return self.declared.with_declaration(found, installed)

    def _status(self, module: InstalledModule) -> ModuleStatus:
        module = self.declared.in_force(module)
        folder = module.dev or self.places.source(module.name)
        state, reason, pending = self._state(module, folder)
        if not module.enabled:
            word = "declared as disabled" if self.declared.find(module.name) else "disabled"
            state, reason = State.DISABLED, reason or f"It is {word}."
        approved, when = approved_consent(module), module.approved_at
        return ModuleStatus(
            name=module.name,
            state=state,
            reason=reason,
            folder=str(folder),
            enabled=module.enabled,
            version=module.version,
            trust_level=module.trust,
            source=module.source,
            path=module.path,
            dev=module.dev is not None,
            hash=module.hash,
            pending_hash=pending,
            author=(approved and approved.author) or None,
            title=(approved and approved.title) or None,
            icon=(approved and approved.icon) or None,
            permissions=approved,
            agent_limits=module.agents,
            approved_at=when.isoformat() if when else None,
        )

    def _state(self, module: InstalledModule, folder: Path) -> tuple[State, str | None, str | None]:
        name = module.name
        if folder.is_symlink() or not folder.is_dir():
            return State.MISSING, f"The folder {folder} of the module {name} is gone.", None
        if module.approved_at is None or module.permissions is None:
            return State.PENDING, f"The module {name} was never approved on this computer.", None
        if module.dev is None:
            try:
                current = self._sources.tree(folder, lambda path: read_tree(path, limits=self.limits)).hash
            except (ParachuteError, OSError) as error:
                return State.PENDING, f"The folder {folder} cannot be read: {error}", None
            if current != module.hash:
                return State.PENDING, f"The module {name} was changed and waits for your approval.", current
        elif other := _other_rights(module, module.dev):
            return State.PENDING, other, None
        copy = self.places.copy(name, module.digest)
        if not copy.is_dir():
            return State.DAMAGED, f"The verified copy {copy} of the module {name} is gone.", None
        return State.READY, None, None

    def _rebuilt(self, name: str) -> InstalledModule:
        """Unpack the packages again, for another interpreter than that of the last start."""
        with self._staging(None, self.limits.wait_seconds) as staging:
            module = self.registry.module(name)
            folder = self.places.copy(name, module.digest)
            if dependencies.fits(folder):
                return module
            digest = dependencies.rebuild(folder, staging.folder / "rebuilt", self.limits)
            module = self.registry.replace(name, lambda found: replace(found, packages_hash=digest))
            dependencies.mark_rebuilt(folder)
            return module


def _other_rights(module: InstalledModule, folder: Path) -> str | None:
    """The rights that a module running in place has without approval, as a sentence; None if it has none."""
    again = f"To agree to that: parachute modules install {folder} --dev"
    before = approved_consent(module)
    if before is None:
        return f"What the module {module.name} may do was approved in another version of this program. {again}"
    try:
        agents = brought_agents(folder, module.name)
        changes = difference(before, consent_of(load(folder), agents, module.trust))
    except (ParachuteError, OSError):
        return None  # then it does not start either, and says itself why
    if not changes:
        return None
    return f"What the module {module.name} may do is not what you agreed to ({'; '.join(changes.as_text())}). {again}"
