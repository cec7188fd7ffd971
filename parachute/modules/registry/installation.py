"""Installing a module: stage it, show it, and put it in place only after the user's yes."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.errors import Conflict, InvalidInput, NotFound
from parachute.config.declared.models import DeclaredModule
from parachute.modules.manifest.consents import Consent
from parachute.modules.manifest.models import Manifest
from parachute.modules.registry import dependencies
from parachute.modules.registry.check import ModuleFiles, wanted
from parachute.modules.registry.consent import Question, consent_of
from parachute.modules.registry.models import InstalledModule, Places, Trust
from parachute.modules.registry.placement import (
    check_lies_outside,
    check_place_is_free,
    holds,
    place_copy,
    place_source,
    set_aside,
    sources_folder,
)
from parachute.modules.registry.registry import Modules, Registry
from parachute.modules.registry.requirements import Lock
from parachute.modules.registry.settings import ModuleSettings, NotAsDeclared
from parachute.modules.registry.verification import CODE, check_fits_installed, is_intact
from parachute.modules.registry.verified import trust_of, verified_hashes
from parachute.modules.trees import sources
from parachute.modules.trees.changes import FileChange, file_changes
from parachute.modules.trees.hashing import Tree, copy_tree, read_tree, tree_hash
from parachute.modules.trees.models import Limits, Progress


class Staging(Struct, frozen=True):
    """Dependencies of every installation step; `folder` is the staging folder of this one."""

    places: Places
    registry: Registry
    limits: Limits
    progress: Progress
    folder: Path

    @property
    def version(self) -> Path:
        """The staged verified copy."""
        return self.folder / "version"

    @property
    def code(self) -> Path:
        """The files in it, which run once they are approved."""
        return self.version / CODE

    @property
    def files(self) -> Path:
        """The staged source for the vault."""
        return self.folder / "source"


class Installation(Struct, frozen=True):
    """A staged module: nothing of it has run, and nothing of it is in place."""

    staging: Staging
    files: ModuleFiles
    module: InstalledModule
    previous: InstalledModule | None
    lock: Lock
    brings_source: bool
    """An approval leaves the source in the vault as it is; an installation replaces it."""

    @property
    def is_unchanged(self) -> bool:
        """True if exactly this is installed and approved already."""
        old, new, places = self.previous, self.module, self.staging.places
        return (
            old is not None
            and old.approved_at is not None
            and (old.hash, old.trust, old.dev) == (new.hash, new.trust, new.dev)
            and is_intact(places, old)
            and (not self.brings_source or places.source(old.name).is_dir())
            and (not new.declared or (old.declared and old.enabled and holds(places.source(old.name), new.hash)))
        )

    @property
    def asked(self) -> Consent:
        """The rights of the module once it is approved."""
        return consent_of(self.files.manifest, self.files.agents, self.module.trust)

    @property
    def question(self) -> Question:
        """The question for the user."""
        return Question(self.asked, self.module, self.previous, self.lock)

    def changes(self) -> list[FileChange]:
        """Differences between the approved copy and the staged files, which `finish` puts in place. Error: OSError."""
        if self.previous is None or self.module.dev or self.previous.hash == self.module.hash:
            return []
        approved = self.staging.places.copy(self.previous.name, self.previous.digest)
        return file_changes(approved / CODE, self.staging.code)

    def check_seen(self, seen: str) -> None:
        """Error: Conflict if what is staged is not the content whose hash somebody saw."""
        if self.module.hash != seen:
            raise Conflict(
                f"The module {self.module.name} has changed since you reviewed it.",
                "Review it again: its content is not what you saw.",
                key="module_changed",
                pending_hash=self.module.hash,
            )

    def finish(self) -> InstalledModule:
        """Unpack the packages, put everything in place, and write the registry last; the user has said yes.

        Errors: Conflict if the staged files changed, DoesNotFit if another module was enabled meanwhile.
        """
        staging = self.staging
        if self.lock.packages:
            staging.progress.step("Installing dependencies...")
        packages_hash = dependencies.install(staging.version, staging.limits)
        digest = self.module.hash if self.module.dev else tree_hash(staging.code)
        staging.progress.step(f"Computing hash: {digest}")
        if digest != self.module.hash:
            raise Conflict(
                "The staged files changed while you were asked.",
                "Something writes into ~/.parachute.",
                key="staged_changed",
            )
        module = replace(
            self.module,
            packages_hash=packages_hash,
            permissions=self.question.permissions(),
            approved_at=datetime.now(UTC),
        )
        if module.declared and (kept := set_aside(staging.places, module, self.previous)):
            staging.progress.step(f"What was changed in {staging.places.source(module.name)} is kept in {kept}.")
        if self.brings_source:
            place_source(staging.places, staging.folder, staging.files, module)
        place_copy(staging.places, staging.version, module)

        def enter(entries: Modules) -> Modules:
            now = entries.get(module.name)
            # Modules are enabled and disabled while the user thinks about the question.
            new = module if now is None or module.dev or module.declared else module.switched(now.enabled)
            if now is not None:
                # What the owner took from its agents stays taken.
                new = replace(new, agents=now.agents)
            if new.enabled:
                check_fits_installed(staging.places, entries.values(), self.files.manifest)
            return {**entries, new.name: new}

        return staging.registry.change(enter)[module.name]


def stage_install(
    staging: Staging,
    source_text: str,
    *,
    subfolder: str | None,
    untrusted: bool,
    dev: bool,
    folder: Path | None,
    check_free: Callable[[str], None],
) -> Installation:
    """Fetch and check a module to install, or to update from the same source.

    `check_free` raises an error for names that are not the user's to install.
    """
    source = sources.parse(source_text, folder)
    runs_in = _dev_folder(staging, source, subfolder) if dev else None
    in_place = None if dev else _in_place(staging, source, subfolder)
    if in_place is not None and in_place in staging.registry.load():
        check_free(in_place)
        return stage_approval(staging, in_place, untrusted=untrusted)
    tree = _read_in_place(staging, runs_in) if runs_in else _obtained(staging, source, subfolder)
    files = _validated(staging, tree)
    name = files.manifest.name
    check_free(name)
    previous = staging.registry.load().get(name)
    if runs_in:
        _check_runs_in_place(staging, name, previous)
    elif in_place is None:
        _check_replaces(staging, name, previous, source.text, subfolder)
    elif in_place != name:
        raise InvalidInput(
            f"The folder is called {in_place!r} and the module in it {name!r}.", "Rename one of them.", key="other_name"
        )
    entry = replace(_entry(files, source.text, path=subfolder), dev=runs_in)
    brings_source = in_place is None and runs_in is None
    return _staged(staging, files, entry, previous, untrusted, brings_source=brings_source)


def staged_before(
    staging: Staging, source: str, *, subfolder: str | None, untrusted: bool, check_free: Callable[[str], None]
) -> Installation:
    """The installation of what `stage_install` has left in the folder of `staging`, checked again; nothing is fetched.

    Error: Conflict if the folder is not as it was left, and those of `stage_install`.
    """
    files = _validated(staging, read_tree(staging.code, wanted=wanted))
    name = files.manifest.name
    check_free(name)
    previous = staging.registry.load().get(name)
    brings_source = _in_place(staging, sources.parse(source), subfolder) is None
    if brings_source:
        _check_replaces(staging, name, previous, source, subfolder)
    if tree_hash(staging.files) != files.tree.hash:
        raise Conflict("The staged files changed.", "Something writes into ~/.parachute.", key="staged_files_changed")
    entry = _entry(files, source, path=subfolder)
    lock = Lock.read(staging.version / dependencies.LOCK)
    return _staged(staging, files, entry, previous, untrusted, brings_source=brings_source, lock=lock)


def stage_declared(staging: Staging, declared: DeclaredModule, settings: ModuleSettings) -> Installation:
    """Fetch a module that the system's configuration declares: that its hash is the declared one is the approval.

    Whatever has its name now gives way. Errors: NotAsDeclared, and those of any other installation.
    """
    tree = _obtained(staging, sources.parse(declared.source), None)
    # Before anything in it is read.
    check_declared_hash(declared, tree.hash)
    files = _validated(staging, tree)
    name = files.manifest.name
    if name != declared.name:
        raise NotAsDeclared(f"{declared.source} holds the module {name}, and not {declared.name}.", key="other_name")
    settings.declared(name, files.manifest)
    entry = replace(_entry(files, declared.source), declared=True)
    return _staged(staging, files, entry, staging.registry.load().get(name), untrusted=False, brings_source=True)


def check_declared_hash(wanted: DeclaredModule, found: str) -> None:
    """Error: NotAsDeclared, with both hashes, unless this content may run without a question."""
    if wanted.hash is not None and found != wanted.hash:
        raise NotAsDeclared(
            f"The hash of {wanted.source} is {found}, and {wanted.hash} is declared.",
            "Check what changed in it. If you want it, declare its hash.",
        )
    if wanted.hash is None and trust_of(wanted.name, found, untrusted=False) is not Trust.VERIFIED:
        listed = ", ".join(verified_hashes(wanted.name)) or "none"
        raise NotAsDeclared(
            f"The hash of {wanted.source} is {found}, and the one that came with this program is {listed}.",
            "Reinstall this program, or declare the hash.",
        )


def _entry(files: ModuleFiles, source: str, path: str | None = None) -> InstalledModule:
    """The registry's entry of a module from a source; its trust comes when it is staged."""
    manifest = files.manifest
    return InstalledModule(
        manifest.name, True, source, Trust.TRUSTED, files.tree.hash, version=manifest.version, path=path
    )


def _obtained(staging: Staging, source: sources.Source, subfolder: str | None) -> Tree:
    work = staging.folder / "work"
    work.mkdir()
    sources.obtain(source, subfolder, staging.files, work, staging.limits, staging.progress)
    shutil.rmtree(work)
    return _verified_copy(staging)


def _verified_copy(staging: Staging) -> Tree:
    """Copy the staged source; what is read from here on, shown and approved is the copy."""
    staging.version.mkdir()
    return copy_tree(staging.files, staging.code, wanted=wanted)


def stage_approval(staging: Staging, name: str, *, untrusted: bool = False) -> Installation:
    """Stage what is in the vault now, for the user to approve; errors: NotFound, Conflict, ManifestInvalid."""
    previous = staging.registry.module(name)
    if previous.dev:
        raise Conflict(
            f"The module {name} runs in place, so there is nothing to approve.",
            f"After a change of its manifest install it again: parachute modules install {previous.dev} --dev",
            key="runs_in_place",
        )
    source = staging.places.source(name)
    if source.is_symlink() or not source.is_dir():
        raise NotFound(
            f"There is no folder {source}.",
            f"Install it again: parachute modules install {previous.source}",
            key="no_folder",
        )
    copy_tree(source, staging.files, limits=staging.limits)
    files = _validated(staging, _verified_copy(staging))
    found = files.manifest
    if found.name != name:
        raise InvalidInput(
            f"{source}: the manifest says that the module is called {found.name!r}, not {name!r}.", key="other_name"
        )
    entry = replace(previous, version=found.version, hash=files.tree.hash)
    return _staged(staging, files, entry, previous, untrusted, brings_source=False)


def _dev_folder(staging: Staging, source: sources.Source, subfolder: str | None) -> Path:
    if source.kind != "folder":
        raise InvalidInput(
            "--dev: only a folder of this computer can run in place.",
            "Leave --dev out, or name a path.",
            key="not_a_folder",
        )
    folder = sources.inner_folder(Path(source.where), subfolder)
    check_lies_outside(staging.places, folder)
    return folder


def _read_in_place(staging: Staging, folder: Path) -> Tree:
    staging.version.mkdir()
    return read_tree(folder, limits=staging.limits, wanted=wanted)


def _check_runs_in_place(staging: Staging, name: str, previous: InstalledModule | None) -> None:
    if previous is None:
        check_place_is_free(staging.places, name)
    elif previous.dev is None:
        raise _taken(name, previous)


def _staged(
    staging: Staging,
    files: ModuleFiles,
    entry: InstalledModule,
    previous: InstalledModule | None,
    untrusted: bool,
    *,
    brings_source: bool,
    lock: Lock | None = None,
) -> Installation:
    name = files.manifest.name
    # What is declared or runs in place is as its author says; nothing was shut in or disabled for it.
    is_new = previous is None or entry.declared or entry.dev is not None
    if previous is not None and not is_new:
        # What was shut in stays so: to let it out is a new installation, not an update.
        untrusted = untrusted or previous.trust is Trust.UNTRUSTED
        entry = entry.switched(previous.enabled)
    if entry.enabled:
        check_fits_installed(staging.places, staging.registry.load().values(), files.manifest)
    # What runs in place may be other files tomorrow, whatever their hash is today.
    trust = trust_of(name, entry.hash, untrusted) if untrusted or entry.dev is None else Trust.TRUSTED
    lock = lock or _locked(staging, files.manifest, previous)
    return Installation(staging, files, replace(entry, trust=trust), previous, lock, brings_source)


def _validated(staging: Staging, tree: Tree) -> ModuleFiles:
    staging.progress.step("Validating manifest.yaml...")
    files = ModuleFiles.read(tree)
    files.check_installable()
    manifest = files.manifest
    staging.progress.step(f"  Name: {manifest.name}")
    staging.progress.step(f"  Version: {manifest.version}")
    if manifest.provides:
        staging.progress.step(f"  Provides: {', '.join(map(str, manifest.provides))}")
    return files


def _locked(staging: Staging, manifest: Manifest, previous: InstalledModule | None) -> Lock:
    requires = tuple(manifest.dependencies)
    if previous is not None:
        old = staging.places.copy(previous.name, previous.digest)
        if lock := dependencies.can_reuse(requires, old):
            dependencies.reuse(lock, old, staging.version)
            return lock
    return dependencies.resolve(requires, staging.version, staging.limits, staging.progress)


def _in_place(staging: Staging, source: sources.Source, subfolder: str | None) -> str | None:
    """The name of the module whose folder in the vault is itself the source, None for any other source."""
    if source.kind != "folder" or subfolder:
        return None
    path = Path(source.where)
    return path.name if path.parent == staging.places.sources.resolve() else None


def _check_replaces(
    staging: Staging, name: str, previous: InstalledModule | None, source: str, subfolder: str | None
) -> None:
    sources_folder(staging.places)
    if previous is None:
        check_place_is_free(staging.places, name)
        return
    if previous.dev is not None or (previous.source, previous.path) != (source, subfolder):
        raise _taken(name, previous)
    folder = staging.places.source(name)
    if folder.is_dir() and tree_hash(folder) != previous.hash:
        raise Conflict(
            f"{folder} has changes that an update would overwrite.",
            f"`parachute modules diff {name}` shows them. Move them elsewhere, or remove the module first.",
            key="changed_here",
        )


def _taken(name: str, previous: InstalledModule) -> Conflict:
    return Conflict(
        f"A module {name!r} is installed already, from {previous.dev or previous.source}.",
        f"Remove it first, its data stays: parachute modules remove {name}",
        key="name_taken",
    )
