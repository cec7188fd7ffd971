"""Bringing modules in line with what the system's configuration declares, one after the other."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from parachute.declared.models import DeclaredModule
from parachute.errors import ParachuteError
from parachute.modules import sources
from parachute.modules.approved import approved_manifest, check_fits_installed
from parachute.modules.hashing import tree_hash
from parachute.modules.installation import check_declared_hash
from parachute.modules.interfaces import DoesNotFit
from parachute.modules.models import InstalledModule, Progress, State, Trust
from parachute.modules.registry import Modules as Entries
from parachute.modules.service import Modules


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a module: a word such as `installed`, or why it is not as declared; neither if it was already."""

    name: str
    done: str | None = None
    problem: str | None = None

    def as_json(self) -> dict[str, str | None]:
        """For `--json`."""
        return {"name": self.name, "done": self.done, "problem": self.problem}


def is_needed(modules: Modules) -> bool:
    """Whether there is anything to look at; error: RegistryUnreadable."""
    return bool(modules.declared.all.modules) or any(module.declared for module in modules.installed())


def apply(
    modules: Modules,
    progress: Progress,
    tell: Callable[[], object],
    ended: Callable[[Outcome], object] = lambda outcome: None,
) -> list[Outcome]:
    """Install, switch and remove what is not as declared; `tell` has what runs of modules brought in line.

    One that cannot be as declared stays as it is, and the others go on. What was declared and is no more is removed; its
    data stay. Waits for downloads. Error: RegistryUnreadable.
    """
    return _Applying(modules, progress, tell, ended).run()


class _Applying:
    def __init__(
        self,
        modules: Modules,
        progress: Progress,
        tell: Callable[[], object],
        ended: Callable[[Outcome], object],
    ) -> None:
        self._modules = modules
        self._declared = modules.declared
        self._progress = progress
        self._tell = tell
        self._ended = ended
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
            # One that does not fit beside the old version of another may fit beside its new one.
            again = [each for each in waiting if self._bring(each, may_wait=may_wait)]
            may_wait = len(again) < len(waiting)
            waiting = again
        return self._outcomes

    def _bring(self, wanted: DeclaredModule, *, may_wait: bool) -> bool:
        """Bring one module in line; True if it shall be tried again after the others."""
        return self._attempt(wanted.name, partial(self._follow, wanted), may_wait=may_wait)

    def _attempt(self, name: str, work: Callable[[], str | None], *, may_wait: bool = False) -> bool:
        self._declared.applying = name
        try:
            outcome = Outcome(name, done=work())
        except (ParachuteError, OSError) as error:
            if may_wait and isinstance(error, DoesNotFit):
                return True
            self._declared.failed(name, self._modules.registry.load().get(name), error)
            outcome = Outcome(name, problem=str(error))
        finally:
            self._declared.applying = None
        if outcome.done:
            self._tell()
        self._outcomes.append(outcome)
        self._ended(outcome)
        return False

    def _remove(self, name: str) -> str:
        with self._modules.removing(name, seconds=self._modules.limits.wait_seconds):
            # What runs of it ends before its files go.
            self._tell()
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
