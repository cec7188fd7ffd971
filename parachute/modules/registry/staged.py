"""Modules that are fetched and shown to the owner first, and installed when the owner has approved exactly that."""

import re
import secrets
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from msgspec import Struct, field, json
from msgspec.structs import asdict

from parachute.base.answers import Answer
from parachute.base.clock import SYSTEM, Clock, now
from parachute.base.errors import Conflict, InvalidInput, NotFound, ParachuteError
from parachute.base.files import private_folder, remove_tree
from parachute.base.folders import Folder
from parachute.modules.registry.consent import Review
from parachute.modules.registry.installation import Installation, Staging, stage_install, staged_before
from parachute.modules.registry.service import Modules
from parachute.modules.registry.staging import kept_folder, one_at_a_time
from parachute.modules.trees import sources
from parachute.modules.trees.models import Progress

Status = Literal["fetching", "waiting", "failed", "installing", "installed"]

MOST = 4
"""Staged modules at a time: each may take as much of the disk as an installation."""
_KEPT_SECONDS = 24 * 60 * 60
_BUSY_SECONDS = 20.0
_STEPS = 200
_FILES = 500
_WAITING = ".waiting-"
_DOCUMENT = "staged.json"
_DOCUMENT_BYTES = 32 * 1024 * 1024
_ID = re.compile(r"[0-9a-f]{12}")


class _Dropped(Exception):
    """Staging that was given up by its caller, or by the end of the server."""


class StagedModule(Struct, eq=False):
    """One of them; `shown` is what its owner approves, once it is known."""

    source: str
    path: str | None
    untrusted: bool
    until: float
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    since: str = field(default_factory=now)
    status: Status = "fetching"
    steps: list[str] = field(default_factory=list)
    detail: str = ""
    shown: Review | None = None
    error: str | None = None
    is_dropped: bool = False

    @property
    def hash(self) -> str | None:
        """The hash of what is shown."""
        return self.shown.hash if self.shown else None

    def answer(self) -> "Staged":
        """The state of it at this moment, for apps."""
        return Staged(
            id=self.id,
            source=self.source,
            path=self.path,
            untrusted=self.untrusted,
            since=self.since,
            status=self.status,
            steps=tuple(self.steps),
            detail=self.detail,
            hash=self.hash,
            consent=self.shown,
            error=self.error,
        )


class Staged(Answer, frozen=True):
    """A staged module; `consent` is what is approved with the `hash`, once it is known."""

    id: str
    source: str
    path: str | None
    untrusted: bool
    since: str
    status: Status
    steps: tuple[str, ...]
    detail: str
    hash: str | None
    consent: Review | None
    error: str | None


class _Stored(Struct):
    """A module that waits, as it is kept in its folder."""

    source: str
    path: str | None
    untrusted: bool
    since: str
    until: float
    steps: list[str]
    shown: Review


class StagedModules:
    """Everything that is staged; what waits survives a restart, for a day.

    Methods wait for the disk; `stage` returns at once.
    """

    def __init__(self, modules: Modules, clock: Clock = SYSTEM) -> None:
        self._clock = clock
        self._modules = modules
        self._staged: dict[str, StagedModule] = {}
        self._lock = threading.Lock()
        self._is_loaded = False
        self._listeners: list[Callable[[], None]] = []

    def listen(self, listener: Callable[[], None]) -> None:
        """Have it called, in any thread, when something about one is other than before."""
        self._listeners.append(listener)

    def changed(self) -> None:
        """Say so to all who listen."""
        for listener in self._listeners:
            listener()

    def close(self) -> None:
        """Give up what is being fetched at its next step; the next start removes what it left."""
        for each in self._staged.values():
            each.is_dropped = each.is_dropped or each.status == "fetching"

    def list(self) -> list[StagedModule]:
        """All of them, the oldest first."""
        with self._lock:
            self._load()
            for each in [each for each in self._staged.values() if each.until <= self._clock.now().timestamp()]:
                if each.status in ("waiting", "failed", "installed"):
                    self._forget(each)
            return sorted(self._staged.values(), key=lambda each: (each.since, each.id))

    def get(self, identifier: str) -> StagedModule:
        """One of them; error: NotFound."""
        for each in self.list():
            if each.id == identifier:
                return each
        raise NotFound("This module is no longer staged.", "Stage it again.", key="not_staged")

    def stage(self, source: str, path: str | None = None, *, untrusted: bool = False) -> StagedModule:
        """Begin to fetch a module; errors: InvalidInput, NotFound, Conflict when too many are staged."""
        if "://" not in source and not source.startswith(("/", "~")) and ":" not in source:
            raise InvalidInput(
                "source: a folder is named by its whole path here.",
                "Such as /home/you/books.",
                key="source_not_absolute",
            )
        text = sources.parse(source).text
        others = self.list()
        with self._lock:
            if sum(each.status != "installed" for each in others) >= MOST:
                raise Conflict(
                    f"{MOST} modules are staged already.", "Approve or delete one first.", key="too_many_staged"
                )
            staged = StagedModule(text, path, untrusted, self._clock.now().timestamp() + _KEPT_SECONDS)
            self._staged[staged.id] = staged
        threading.Thread(target=self._fetch, args=(staged,), name=f"staged {staged.id}", daemon=True).start()
        return staged

    def approve(self, identifier: str, seen: str) -> str:
        """Install what is staged, if it is what somebody saw; returns the module's name.

        Errors: NotFound, Conflict if it is not (yet) or was staged for another state of this computer, and those of `finish`:
        then it has to be staged again.
        """
        staged = self.get(identifier)
        with self._lock:
            if staged.status != "waiting":
                raise Conflict("This module does not wait for an approval.", staged.error, key="not_waiting")
            if staged.hash != seen:
                raise Conflict("The staged files are not the ones you saw.", "Check it again.", key="module_changed")
            staged.status = "installing"
        self.changed()
        try:
            name = self._install(staged)
        except BaseException as error:
            if self._folder(staged.id).is_dir():
                # Another program was changing modules: nothing was touched.
                self._end(staged, "waiting")
            else:
                said = str(error) if isinstance(error, ParachuteError) else type(error).__name__
                self._end(staged, "failed", f"{said} Stage it again.")
            raise
        self._end(staged, "installed")
        return name

    def delete(self, identifier: str) -> None:
        """Drop what is staged; errors: NotFound, Conflict while it is being installed."""
        staged = self.get(identifier)
        with self._lock:
            if staged.status == "installing":
                raise Conflict("This module is being installed.", "Remove it afterwards.", key="busy")
            staged.is_dropped = True
            self._forget(staged)
        self.changed()

    def _install(self, staged: StagedModule) -> str:
        modules, progress = self._modules, _Steps(self, staged)
        assert staged.shown is not None
        with (
            one_at_a_time(modules.places, modules.registry, min(_BUSY_SECONDS, modules.limits.wait_seconds), progress),
            kept_folder(modules.places, self._folder(staged.id)) as folder,
        ):
            installation = staged_before(
                self._staging(folder, progress),
                staged.source,
                subfolder=staged.path,
                untrusted=staged.untrusted,
                check_free=modules.declared.check_free,
            )
            if _shown(installation) != staged.shown:
                raise Conflict(
                    f"What the approval of {installation.module.name} means has changed since you saw it.",
                    key="module_changed",
                )
            if not installation.is_unchanged:
                installation.finish()
            return installation.module.name

    def _fetch(self, staged: StagedModule) -> None:
        folder = self._folder(staged.id)
        try:
            private_folder(folder)
            installation = stage_install(
                self._staging(folder, _Steps(self, staged)),
                staged.source,
                subfolder=staged.path,
                untrusted=staged.untrusted,
                dev=False,
                folder=None,
                check_free=self._modules.declared.check_free,
            )
            shown = _shown(installation)
            with Folder.open(folder) as opened:
                opened.write(_DOCUMENT, json.encode(_stored(staged, shown)))
            with self._lock:
                staged.shown, staged.status, staged.detail = shown, "waiting", ""
                if staged.is_dropped:
                    raise _Dropped
        except _Dropped:
            self._remove(folder)
        except (ParachuteError, OSError) as error:
            self._remove(folder)
            self._end(staged, "failed", str(error))
        except BaseException:
            self._remove(folder)
            self._end(staged, "failed", "It failed; the log of the computer says more.")
            raise
        self.changed()

    def _staging(self, folder: Path, progress: Progress) -> Staging:
        modules = self._modules
        return Staging(modules.places, modules.registry, modules.limits, progress, folder)

    def _end(self, staged: StagedModule, status: Status, error: str | None = None) -> None:
        staged.status, staged.error, staged.detail = status, error, ""
        self.changed()

    def _forget(self, staged: StagedModule) -> None:
        self._staged.pop(staged.id, None)
        if staged.status != "fetching":
            self._remove(self._folder(staged.id))

    def _remove(self, folder: Path) -> None:
        remove_tree(folder)

    def _folder(self, identifier: str) -> Path:
        return self._modules.places.copies / f"{_WAITING}{identifier}"

    def _load(self) -> None:
        """Take up what an earlier server left, and remove what it had not finished."""
        if self._is_loaded:
            return
        self._is_loaded = True
        for folder in self._modules.places.copies.glob(f"{_WAITING}*"):
            identifier = folder.name.removeprefix(_WAITING)
            try:
                if not _ID.fullmatch(identifier):
                    raise InvalidInput("This is not a valid name of a staged module.", key="invalid_name")
                with Folder.open(folder) as opened:
                    stored = json.decode(opened.read(_DOCUMENT, _DOCUMENT_BYTES), type=_Stored)
                self._staged[identifier] = StagedModule(**asdict(stored), id=identifier, status="waiting")
            except (OSError, ValueError, ParachuteError):
                self._remove(folder)


class _Steps:
    """The progress of one, which ends with it."""

    def __init__(self, owner: StagedModules, staged: StagedModule) -> None:
        self._owner = owner
        self._staged = staged

    def step(self, text: str) -> None:
        """Keep a line."""
        self._check()
        del self._staged.steps[_STEPS:]
        self._staged.steps.append(text[:500])
        self._staged.detail = ""
        self._owner.changed()

    def detail(self, text: str) -> None:
        """Replace the last such line."""
        self._check()
        self._staged.detail = text[:200]
        self._owner.changed()

    def _check(self) -> None:
        if self._staged.is_dropped:
            raise _Dropped


def _shown(installation: Installation) -> Review:
    return installation.question.review(installation.changes(), _FILES, unchanged=installation.is_unchanged)


def _stored(staged: StagedModule, shown: Review) -> _Stored:
    return _Stored(staged.source, staged.path, staged.untrusted, staged.since, staged.until, list(staged.steps), shown)
