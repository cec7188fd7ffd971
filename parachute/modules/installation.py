"""From a source to a module that may start: staged, shown, and only after the user's yes put in place."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from parachute.declared.models import DeclaredModule
from parachute.errors import Conflict, InvalidInput, NotFound
from parachute.manifest import Consent, Manifest, load
from parachute.modules import dependencies, sources
from parachute.modules.approved import check_fits_installed
from parachute.modules.changes import FileChange, file_changes
from parachute.modules.check import check_agents, check_code, check_entry
from parachute.modules.consent import Question, consent_of
from parachute.modules.hashing import copy_verified, tree_hash
from parachute.modules.models import InstalledModule, Limits, Places, Progress, Trust
from parachute.modules.names import check_name
from parachute.modules.placing import check_place_is_free, holds, place_copy, place_source, set_aside, sources_folder
from parachute.modules.registry import Modules, Registry
from parachute.modules.requirements import Lock
from parachute.modules.settings import ModuleSettings, NotAsDeclared
from parachute.modules.tree import check_tree
from parachute.modules.trust import trust_of, verified_hashes
from parachute.modules.verification import CODE, is_intact


@dataclass(frozen=True, slots=True)
class Workshop:
    """What every step of an installation needs; `staging` is its folder."""

    places: Places
    registry: Registry
    limits: Limits
    progress: Progress
    staging: Path

    @property
    def version(self) -> Path:
        """What becomes the verified copy."""
        return self.staging / "version"

    @property
    def files(self) -> Path:
        """What becomes the source in the vault."""
        return self.staging / "source"


@dataclass(frozen=True, slots=True)
class Installation:
    """A staged module: nothing of it has run, and nothing of it is in place."""

    workshop: Workshop
    manifest: Manifest
    asked: Consent
    module: InstalledModule
    previous: InstalledModule | None
    lock: Lock
    brings_source: bool
    """Whether it also replaces the source in the vault, which an approval does not."""

    @property
    def is_unchanged(self) -> bool:
        """Whether exactly this is installed and approved already."""
        old, new, shop = self.previous, self.module, self.workshop.places
        return (
            old is not None
            and old.approved_at is not None
            and (old.hash, old.trust, old.dev) == (new.hash, new.trust, new.dev)
            and is_intact(self.workshop.places, old)
            and (not self.brings_source or self.workshop.places.source(old.name).is_dir())
            and (not new.declared or (old.declared and old.enabled and holds(shop.source(old.name), new.hash)))
        )

    @property
    def question(self) -> Question:
        """What the user is asked."""
        return Question(self.asked, self.module, self.previous, self.lock)

    def changes(self) -> list[FileChange]:
        """What the staged files have that the approved copy has not: exactly what `finish` puts in place. Error: OSError."""
        if self.previous is None or self.module.dev or self.previous.hash == self.module.hash:
            return []
        approved = self.workshop.places.copy(self.previous.name, self.previous.digest)
        return file_changes(approved / CODE, self.workshop.version / CODE)

    def finish(self) -> InstalledModule:
        """Unpack the packages, put everything in place, and write the registry last; the user has said yes.

        Errors: Conflict if the staged files changed, DoesNotFit if another module was enabled meanwhile.
        """
        shop = self.workshop
        if self.lock.packages:
            shop.progress.step("Installing dependencies...")
        packages_hash = dependencies.install(shop.version, shop.limits)
        digest = self.module.hash if self.module.dev else tree_hash(shop.version / CODE)
        shop.progress.step(f"Computing hash: {digest}")
        if digest != self.module.hash:
            raise Conflict("The staged files changed while you were asked.", "Something writes into ~/.parachute.")
        module = replace(
            self.module,
            packages_hash=packages_hash,
            permissions=self.question.permissions(),
            approved_at=datetime.now(UTC),
        )
        if module.declared and (kept := set_aside(shop.places, module, self.previous)):
            shop.progress.step(f"What was changed in {shop.places.source(module.name)} is kept in {kept}.")
        if self.brings_source:
            place_source(shop.places, shop.staging, shop.files, module)
        place_copy(shop.places, shop.version, module)
        shop.registry.change(self._entering(module))
        return shop.registry.module(module.name)

    def _entering(self, module: InstalledModule) -> Callable[[Modules], Modules]:
        def enter(entries: Modules) -> Modules:
            now = entries.get(module.name)
            # Modules are enabled and disabled while the user thinks about the question.
            new = module if now is None or module.dev or module.declared else module.switched(now.enabled)
            if new.enabled:
                check_fits_installed(self.workshop.places, entries.values(), self.manifest)
            return {**entries, new.name: new}

        return enter


def stage_install(
    shop: Workshop,
    source_text: str,
    *,
    subfolder: str | None,
    untrusted: bool,
    dev: bool,
    folder: Path | None,
    check_free: Callable[[str], None],
) -> Installation:
    """Fetch and look at a module that is to be installed, or brought up to date from the same source.

    `check_free` raises an error for names that are not the user's to install.
    """
    source = sources.parse(source_text, folder)
    if dev:
        return _stage_dev(shop, source, subfolder, untrusted, check_free)
    in_place = _in_place(shop, source, subfolder)
    if in_place is not None and in_place in shop.registry.load():
        check_free(in_place)
        return stage_approval(shop, in_place, untrusted=untrusted)
    _obtain(shop, source, subfolder)
    manifest = _validated(shop, shop.files)
    check_free(manifest.name)
    previous = shop.registry.load().get(manifest.name)
    if in_place is None:
        _check_replaces(shop, manifest.name, previous, source.text, subfolder)
    elif in_place != manifest.name:
        raise InvalidInput(
            f"The folder is called {in_place!r} and the module in it {manifest.name!r}.", "Rename one of them."
        )
    entry = InstalledModule(
        name=manifest.name,
        enabled=True,
        source=source.text,
        path=subfolder,
        version=manifest.version,
        trust=Trust.TRUSTED,
        hash="",
    )
    return _staged(shop, manifest, entry, previous, untrusted, brings_source=in_place is None)


def stage_declared(shop: Workshop, wanted: DeclaredModule, settings: ModuleSettings) -> Installation:
    """Fetch a module that the system's configuration declares: that its hash is the declared one is the approval.

    Whatever has its name now gives way. Errors: NotAsDeclared, and those of any other installation.
    """
    _obtain(shop, sources.parse(wanted.source), None)
    # Before anything in it is read.
    check_declared_hash(wanted, tree_hash(shop.files))
    manifest = _validated(shop, shop.files)
    if manifest.name != wanted.name:
        raise NotAsDeclared(f"{wanted.source} holds the module {manifest.name}, and not {wanted.name}.")
    settings.declared(wanted.name, manifest)
    entry = InstalledModule(
        name=manifest.name,
        enabled=True,
        source=wanted.source,
        version=manifest.version,
        trust=Trust.TRUSTED,
        hash="",
        declared=True,
    )
    previous = shop.registry.load().get(manifest.name)
    return _staged(shop, manifest, entry, previous, untrusted=False, brings_source=True)


def check_declared_hash(wanted: DeclaredModule, found: str) -> None:
    """Error: NotAsDeclared, with both hashes, unless this content may run without a question."""
    if wanted.hash is not None and found != wanted.hash:
        raise NotAsDeclared(
            f"The hash of {wanted.source} is {found}, and {wanted.hash} is declared.",
            "Look at what changed in it. If you want it, declare its hash.",
        )
    if wanted.hash is None and trust_of(wanted.name, found, untrusted=False) is not Trust.VERIFIED:
        listed = ", ".join(verified_hashes(wanted.name)) or "none"
        raise NotAsDeclared(
            f"The hash of {wanted.source} is {found}, and the one that came with this program is {listed}.",
            "Install this program anew, or declare the hash.",
        )


def _obtain(shop: Workshop, source: sources.Source, subfolder: str | None) -> None:
    work = shop.staging / "work"
    work.mkdir()
    sources.obtain(source, subfolder, shop.files, work, shop.limits, shop.progress)
    shutil.rmtree(work)


def stage_approval(shop: Workshop, name: str, *, untrusted: bool = False) -> Installation:
    """Look at what is in the vault now, which the user may approve; errors: NotFound, Conflict, ManifestInvalid."""
    previous = shop.registry.module(name)
    if previous.dev:
        raise Conflict(
            f"The module {name} runs in place, so there is nothing to approve.",
            f"After a change of its manifest install it again: parachute modules install {previous.dev} --dev",
        )
    source = shop.places.source(name)
    if source.is_symlink() or not source.is_dir():
        raise NotFound(
            f"There is no folder {source}.", f"Install it again: parachute modules install {previous.source}"
        )
    check_tree(source, shop.limits)
    copy_verified(source, shop.files)
    manifest = _validated(shop, shop.files)
    if manifest.name != name:
        raise InvalidInput(f"{source}: the manifest says that the module is called {manifest.name!r}, not {name!r}.")
    entry = replace(previous, version=manifest.version)
    return _staged(shop, manifest, entry, previous, untrusted, brings_source=False)


def _stage_dev(
    shop: Workshop, source: sources.Source, subfolder: str | None, untrusted: bool, check_free: Callable[[str], None]
) -> Installation:
    if source.kind != "folder":
        raise InvalidInput(
            "--dev: only a folder of this computer can run in place.", "Leave --dev out, or name a path."
        )
    folder = sources.inner_folder(Path(source.where), subfolder)
    for protected, what in ((shop.places.vault, "the vault"), (shop.places.home.root, "the folder of trust")):
        outside = protected.resolve()
        if folder.is_relative_to(outside) or outside.is_relative_to(folder):
            # What runs in place is checked against nothing, so no agent may be able to write it.
            raise InvalidInput(f"--dev: {folder} must lie outside of {what} {outside}.", "Move it, or leave --dev out.")
    check_tree(folder, shop.limits)
    manifest = _validated(shop, folder)
    check_free(manifest.name)
    previous = shop.registry.load().get(manifest.name)
    if previous is None:
        check_place_is_free(shop.places, manifest.name)
    elif previous.dev is None:
        raise _taken(manifest.name, previous)
    check_fits_installed(shop.places, shop.registry.load().values(), manifest)
    entry = InstalledModule(
        name=manifest.name,
        enabled=True,
        source=source.text,
        path=subfolder,
        version=manifest.version,
        trust=Trust.UNTRUSTED if untrusted else Trust.TRUSTED,
        hash=tree_hash(folder),
        dev=folder,
    )
    shop.version.mkdir()
    lock = _locked(shop, manifest, previous)
    return Installation(shop, manifest, consent_of(folder, manifest), entry, previous, lock, brings_source=False)


def _staged(
    shop: Workshop,
    manifest: Manifest,
    entry: InstalledModule,
    previous: InstalledModule | None,
    untrusted: bool,
    *,
    brings_source: bool,
) -> Installation:
    if previous is None or previous.enabled or entry.declared:
        check_fits_installed(shop.places, shop.registry.load().values(), manifest)
    shop.version.mkdir()
    digest = copy_verified(shop.files, shop.version / CODE)
    # What was shut in stays so: to let it out is a new installation, not an update. What is declared was never shut in.
    untrusted = untrusted or (not entry.declared and previous is not None and previous.trust is Trust.UNTRUSTED)
    module = replace(entry, hash=digest, trust=trust_of(manifest.name, digest, untrusted))
    if previous is not None and not entry.declared:
        module = module.switched(previous.enabled)
    lock = _locked(shop, manifest, previous)
    asked = consent_of(shop.version / CODE, manifest)
    return Installation(shop, manifest, asked, module, previous, lock, brings_source)


def _validated(shop: Workshop, folder: Path) -> Manifest:
    shop.progress.step("Validating manifest.yaml...")
    manifest = load(folder)
    check_name(manifest.name)
    check_entry(folder, manifest)
    check_code(folder, manifest)
    check_agents(folder, manifest)
    shop.progress.step(f"  Name: {manifest.name}")
    shop.progress.step(f"  Version: {manifest.version}")
    if manifest.provides:
        shop.progress.step(f"  Provides: {', '.join(map(str, manifest.provides))}")
    return manifest


def _locked(shop: Workshop, manifest: Manifest, previous: InstalledModule | None) -> Lock:
    requires = tuple(manifest.dependencies)
    if previous is not None:
        old = shop.places.copy(previous.name, previous.digest)
        if lock := dependencies.can_reuse(requires, old):
            dependencies.reuse(lock, old, shop.version)
            return lock
    return dependencies.resolve(requires, shop.version, shop.limits, shop.progress)


def _in_place(shop: Workshop, source: sources.Source, subfolder: str | None) -> str | None:
    """The name of the module whose folder in the vault is itself the source, None for any other source."""
    if source.kind != "folder" or subfolder:
        return None
    path = Path(source.where)
    return path.name if path.parent == shop.places.sources.resolve() else None


def _check_replaces(
    shop: Workshop, name: str, previous: InstalledModule | None, source: str, subfolder: str | None
) -> None:
    sources_folder(shop.places)
    if previous is None:
        check_place_is_free(shop.places, name)
        return
    if previous.dev is not None or (previous.source, previous.path) != (source, subfolder):
        raise _taken(name, previous)
    folder = shop.places.source(name)
    if folder.is_dir() and tree_hash(folder) != previous.hash:
        raise Conflict(
            f"{folder} has changes that an update would overwrite.",
            f"`parachute modules diff {name}` shows them. Move them elsewhere, or remove the module first.",
        )


def _taken(name: str, previous: InstalledModule) -> Conflict:
    return Conflict(
        f"A module {name!r} is installed already, from {previous.dev or previous.source}.",
        f"Remove it first, its data stays: parachute modules remove {name}",
        key="name_taken",
    )
