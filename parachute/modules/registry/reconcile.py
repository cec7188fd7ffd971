"""Reconciling installed modules with the declared configuration, one after the other."""

from collections.abc import Callable
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.errors import ParachuteError
from parachute.config.declared.models import DeclaredModule
from parachute.modules.registry.installation import check_declared_hash
from parachute.modules.registry.interfaces import DoesNotFit
from parachute.modules.registry.models import InstalledModule, State, Trust
from parachute.modules.registry.registry import Modules as Entries
from parachute.modules.registry.service import Modules
from parachute.modules.registry.verification import approved_manifest, check_fits_installed
from parachute.modules.trees import sources
from parachute.modules.trees.hashing import tree_hash
from parachute.modules.trees.models import Progress


class Outcome(Struct, frozen=True):
    """The result for a module: a word such as `installed`, or the problem; neither if it was as declared already."""

    name: str
    done: str | None = None
    problem: str | None = None


def is_needed(modules: Modules) -> bool:
    """True if any module is or was declared; error: RegistryUnreadable."""
    return bool(modules.declared.all.modules) or any(module.declared for module in modules.installed())


def reconcile(
    modules: Modules,
    progress: Progress,
    notify: Callable[[], object],
    report: Callable[[Outcome], object] = lambda outcome: None,
) -> list[Outcome]:
    """Install, switch and remove modules that are not as declared; `notify` is called after each change.

    A module that cannot be as declared stays as it is, and the others go on. Modules that are no longer declared are
    removed; their data stay. Waits for downloads. Error: RegistryUnreadable.
    """
    return _Reconciler(modules, progress, notify, report).run()


class _Reconciler:
    def __init__(
        self,
        modules: Modules,
        progress: Progress,
        notify: Callable[[], object],
        report: Callable[[Outcome], object],
    ) -> None:
        self._modules = modules
        self._declared = modules.declared
        self._progress = progress
        self._notify = notify
        self._report = report
        self._outcomes: list[Outcome] = []

    def run(self) -> list[Outcome]:
        wanted = self._declared.all.modules
        self._modules.recover()
        # First what makes room for others.
        for module in self._modules.installed():
            if module.declared and module.name not in wanted:
                self._attempt(module.name, partial(self._remove, module.name))
        waiting = sorted(wanted.values(), key=lambda module: (module.enable, module.name))
        may_wait = True
        while waiting:
            # A module that does not fit the old version of another may fit its new one.
            again = [
                each for each in waiting if self._attempt(each.name, partial(self._follow, each), may_wait=may_wait)
            ]
            may_wait = len(again) < len(waiting)
            waiting = again
        return self._outcomes

    def _attempt(self, name: str, work: Callable[[], str | None], *, may_wait: bool = False) -> bool:
        """Reconcile one module; True if it shall be tried again after the others."""
        self._declared.reconciling = name
        try:
            outcome = Outcome(name, done=work())
        except (ParachuteError, OSError) as error:
            if may_wait and isinstance(error, DoesNotFit):
                return True
            self._declared.failed(name, self._modules.registry.load().get(name), error)
            outcome = Outcome(name, problem=str(error))
        finally:
            self._declared.reconciling = None
        if outcome.done:
            self._notify()
        self._outcomes.append(outcome)
        self._report(outcome)
        return False

    def _remove(self, name: str) -> str:
        with self._modules.removing(name, seconds=self._modules.limits.wait_seconds):
            # What runs of it ends before its files go.
            self._notify()
        return "removed"

    def _follow(self, wanted: DeclaredModule) -> str | None:
        entry = self._modules.registry.load().get(wanted.name)
        if not wanted.enable:
            if entry is None or not entry.enabled:
                return None
            self._modules.registry.replace(wanted.name, lambda module: module.switched(False))
            return "disabled"
        if entry is not None and self._has_content(entry, wanted):
            self._modules.settings.declared(wanted.name, approved_manifest(self._modules.places, entry))
            done = self._mark(wanted)
            if self._modules.status(wanted.name).state is State.READY:
                return done
        return self._install(wanted)

    def _has_content(self, entry: InstalledModule, wanted: DeclaredModule) -> bool:
        if entry.approved_at is None or entry.dev is not None or entry.trust is Trust.UNTRUSTED:
            return False
        digest = wanted.hash
        if digest is None:
            name = sources.parse(wanted.source).where
            digest = tree_hash(sources.official_module(name), sources.NOT_INSTALLED)
            check_declared_hash(wanted, digest)
        return entry.hash == digest and self._modules.places.copy(entry.name, entry.digest).is_dir()

    def _mark(self, wanted: DeclaredModule) -> str | None:
        """Make what is installed already the declared one, without installing it again."""
        done: list[str] = []

        def marked(entries: Entries) -> Entries:
            entry = entries[wanted.name]
            new = replace(entry, declared=True, enabled=True, source=wanted.source, path=None)
            if new == entry:
                return entries
            if not entry.enabled:
                manifest = approved_manifest(self._modules.places, entry)
                check_fits_installed(self._modules.places, entries.values(), manifest)
            done.append("adopted" if not entry.declared else "changed")
            return {**entries, wanted.name: new}

        self._modules.registry.change(marked)
        return done[0] if done else None

    def _install(self, wanted: DeclaredModule) -> str | None:
        with self._modules.installing_declared(wanted, self._progress) as installation:
            # Another program may have done it while this one waited.
            if installation.is_unchanged:
                return None
            installation.finish()
        previous = installation.previous
        if previous is None:
            return "installed"
        return "put back" if previous.declared and previous.hash == installation.module.hash else "replaced"
