"""Changes of runs: applying the view of a session, what waits of it, and taking it back."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

from parachute.base.clock import SYSTEM, Clock
from parachute.base.database import Database
from parachute.base.errors import Conflict, NotFound, ParachuteError, Unavailable
from parachute.base.files import private_folder
from parachute.base.folders import Folder
from parachute.changes import git_files, git_trees
from parachute.changes.answering import Word, applicable, apply_held, digest_of, in_use_by_a_program, whole
from parachute.changes.applying import Places, apply, noted, write_noted
from parachute.changes.blobs import Blobs
from parachute.changes.clock import FileClock
from parachute.changes.direct_runs import DirectRuns
from parachute.changes.folders_below import FoldersBelow
from parachute.changes.history import History
from parachute.changes.instructions import Instructions
from parachute.changes.lineage import Lineage
from parachute.changes.models import Applied, State, Undone
from parachute.changes.planning import Change
from parachute.changes.present import status_of
from parachute.changes.pruning import prune
from parachute.changes.recovering import recover
from parachute.changes.refreshing import free, is_stale, look_below
from parachute.changes.scanning import Scan
from parachute.changes.store import ChangeStore
from parachute.changes.undoing import chosen, is_chosen, undo
from parachute.changes.views import Left, View, mark_of, marked
from parachute.config.settings.groups.agents import ChangesSettings
from parachute.events.inbox.models import not_waiting
from parachute.security.origin import Origin, lowest

_PRUNE_SECONDS = 3600.0
_INDEX = 64 << 20


class Changes:
    """All changes of runs; `folder` is where contents are kept, `changed` is called when something begins or ceases to wait."""

    def __init__(
        self,
        settings: ChangesSettings,
        folder: Path,
        database: Database,
        changed: Callable[[], None],
        clock: Clock = SYSTEM,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._folder = folder
        self._changed = changed
        self.places = Places(
            ChangeStore(database),
            Lineage(database),
            Instructions(database),
            Blobs(folder / "contents"),
            asyncio.Lock(),
            settings.file_megabytes << 20,
        )
        self._store = self.places.store
        self.lineage = self.places.lineage
        self.instructions = self.places.instructions
        self.history = History(self._store, self.places.blobs)
        self._file_clock = FileClock(folder / "clock")
        self._views: dict[str, View] = {}
        self._locks: defaultdict[Path, asyncio.Lock] = defaultdict(asyncio.Lock)
        self.direct = DirectRuns(
            self.places,
            folder / "snapshots",
            self._file_clock,
            self._locks,
            settings.keep_megabytes << 20,
            self._prune,
        )
        self._taken_back: dict[tuple[str, str], dict[str, State]] = {}
        self._pruned = -_PRUNE_SECONDS

    async def start(self) -> None:
        """Find out what became of the changes that were being written when the server died."""
        await asyncio.to_thread(self._prepare)
        self._taken_back = await recover(self.places)
        await self.direct.start()

    async def begin(
        self,
        session: str,
        project: Path,
        upper: Path,
        *,
        is_reviewed: bool = False,
        parts: tuple[str, ...] = ("",),
        origin: Callable[[], Origin] = lambda: Origin.OWNER,
    ) -> int:
        """A turn begins, whose changes get the number that is returned; what the turn before has left is applied first.

        `parts` are the folders of the project that the agent sees, `origin` the lowest of what has entered it by now.
        """
        async with self._locks[project]:
            earlier = self._known_view(session, project, upper) or await self._earlier(session, project, upper, parts)
            began = await self._file_clock.later()
            if earlier is not None and not earlier.has_ended:
                earlier.origin = origin
                await self._finished(earlier)
                if not earlier.has_ended:
                    began = earlier.began_ns  # whatever of it is left was made then
            number = await self._store.begin(session, project, "run", began, is_reviewed=is_reviewed)
            view = View(session, project, upper, number, began, is_reviewed, parts, origin=origin)
            if earlier is not None:
                view.known, view.left = earlier.known, earlier.left
                for path in (path for path, each in earlier.waiting.items() if each.reason in ("in_use", "commit")):
                    view.known.pop(path, None)  # the program may have ended meanwhile
                view.below = earlier.below if earlier.parts == parts else FoldersBelow()
            await self._load_waiting(view)
            view.index = await asyncio.to_thread(self._index, project)
            view.token = marked(upper)
            await asyncio.to_thread(look_below, view)
            self._views[session] = view
            return number

    def foreign(self, session: str) -> list[str]:
        """The folders of the project, as its view began, in which the session's agent cannot write; see `is_foreign`."""
        view = self._views.get(session)
        return sorted(view.below.foreign) if view is not None else []

    async def apply(self, session: str, *, final: bool = False) -> Applied:
        """Apply what the session has changed since the last time; `final` at the end of its turn. Error: NotFound before a turn."""
        view = self._view(session)
        async with self._locks[view.project]:
            before = dict(view.waiting)
            applied = await (self._finished(view) if final else self._applied(view))
        if before != view.waiting:
            self._changed()
        return applied

    async def make(self, session: str, project: Path, plan: Callable[[Blobs, Folder], Sequence[Change]]) -> int | None:
        """Make changes of the owner's own, which can be taken back as those of a run can: their number, None if there are none.

        `plan` copies what is there and is called in a thread; `session` is no session's id. Errors: those of `plan`, OSError,
        Conflict where somebody has changed something meanwhile.
        """
        async with self._locks[project]:
            with Folder.open_unlinked(project) as folder:
                changes = await asyncio.to_thread(plan, self.places.blobs, folder)
                if not changes:
                    return None
                number = await self._store.begin(session, project, "owner", await self._file_clock.later())
                try:
                    async with self.places.keeping:
                        await asyncio.to_thread(
                            self.places.blobs.keep, [c.before.content for c in changes if c.before.content]
                        )
                        await self._store.start(noted(number, changes))
                    outcome = await write_noted(self._store, number, folder, changes)
                finally:
                    for each in changes:
                        each.before.drop()
                    await self._store.end(number)
            await self._prune()
        if outcome.error is not None:
            raise outcome.error
        if "conflict" in outcome.left.values():
            raise Conflict("The file changed while it was being read.", "Check it again.", key="changed_meanwhile")
        if "in_use" in outcome.left.values():
            raise in_use_by_a_program(min(outcome.left))
        if outcome.left:
            raise Unavailable(f"{min(outcome.left)} could not be written.", key="not_written")
        return number

    async def is_stale(self, session: str) -> bool:
        """Return whether the view of a session, if it has one, would not show what the owner has done since its last turn."""
        if (view := self._views.get(session)) is None:
            return False
        async with self._locks[view.project]:
            try:
                return not view.has_ended or await asyncio.to_thread(is_stale, view)
            except OSError:
                return True  # the project is gone

    async def refresh(self, session: str, project: Path, upper: Path) -> None:
        """Free a view, which is mounted nowhere now, of all that was applied, undone or thrown away; what waits stays.

        Error: Unavailable if what a turn has left cannot be applied, OSError.
        """
        async with self._locks[project]:
            view = self._known_view(session, project, upper) or await self._earlier(session, project, upper)
            if view is None:
                return  # no turn has ever begun in it
            if not view.has_ended:
                applied = await self._finished(view)
                if applied.problem is not None:
                    raise Unavailable(applied.problem, key="not_applied")
            await asyncio.to_thread(free, view)
            await self._store.unhold(session, view.thrown, thrown=True)
            view.thrown = {}
            view.known = {path: seen for path, seen in view.known.items() if path in view.waiting}
            view.left = {}
            view.token = marked(upper)
            view.below, view.is_outdated = FoldersBelow(), False
            self._views[session] = view

    async def release(self, session: str) -> None:
        """Free the view of a session whose sandbox is closed; what cannot be applied now is tried again at its next turn."""
        view = self._views.get(session)
        if view is None or (view.is_active and not view.has_ended):
            return  # another turn has begun meanwhile
        with contextlib.suppress(OSError, ParachuteError):
            await self.refresh(session, view.project, view.upper)
        self._views.pop(session, None)

    async def undo(
        self, session: str, number: int | None = None, paths: Sequence[str] | None = None, *, by_owner: bool = True
    ) -> Undone:
        """Take back the session's last run, or the run of that number (an undo, too), or its changes at some paths.

        Errors: NotFound, NotAllowed for what is the owner's to decide, Conflict during a turn, OSError.
        """
        self._check_quiet(session)
        target = await chosen(self.places, session, number)
        async with self._locks[Path(target.project)]:
            return await undo(self.places, target, await self._file_clock.later(), paths, by_owner=by_owner)

    async def to_undo(self, session: str, number: int | None = None) -> tuple[int, Sequence[str]]:
        """The run that an undo would take back, and the paths that it would change; error: NotFound."""
        target = await chosen(self.places, session, number)
        return target.number, [each.path for each in await self._store.entries(target.number, state="applied")]

    async def answer(
        self, session: str, number: int, word: Word, paths: Sequence[str] | None = None, digest: str | None = None
    ) -> Sequence[str]:
        """Apply or throw away what waits of a run, or of it what is at some paths; which paths it was.

        `digest` is that of all that waits of the run, as it was shown; what can never be applied waits on.
        Errors: NotFound, Conflict, InvalidInput if none of it can be applied, OSError.
        """
        found = await self._store.get(number)
        if found is None or found.session != session:
            raise not_waiting()
        async with self._locks[Path(found.project)]:
            waiting = [each for each in await self._store.held(number=number) if not each.is_thrown]
            held = whole([each for each in waiting if is_chosen(each.path, paths)], waiting)
            if not held:
                raise not_waiting()
            if digest is not None and digest != digest_of(waiting):
                raise Conflict("The waiting changes are no longer the ones you saw.", "Check it again.", key="changed")
            view = self._views.get(session)
            if word == "apply":
                held = applicable(held, waiting)
                left = await apply_held(self.places, found, held, await self._file_clock.later())
                if view is not None:
                    view.left |= left
            else:
                await self._store.throw_away(number, [each.path for each in held])
            if view is not None:
                await self._load_waiting(view)
        self._changed()
        return [each.path for each in held]

    def _known_view(self, session: str, project: Path, upper: Path) -> View | None:
        """Return the record of a view; None for another one, also of the same name: what it never had would seem deleted in it."""
        view = self._views.get(session)
        if view is None or (view.project, view.upper) != (project, upper) or view.token != mark_of(upper):
            return None
        return view

    def _check_quiet(self, session: str) -> None:
        view = self._views.get(session)
        if self.direct.is_running(session) or (view is not None and view.is_active):
            raise Conflict(
                "An answer in this conversation is still running.", "Wait for its answer, or stop it.", key="run_active"
            )

    async def forget(self, session: str) -> None:
        """Forget a session that is deleted: what it changed stays as it is, and what waited is gone."""
        self._views.pop(session, None)
        await self.direct.forget(session)
        await self._store.forget_session(session)
        self._changed()

    def _view(self, session: str) -> View:
        if (view := self._views.get(session)) is None:
            raise NotFound("This conversation has no view.", "Send it a message.", key="no_view")
        return view

    async def _applied(self, view: View) -> Applied:
        if view.is_reviewed:
            return Applied(view.number, 0, len(view.waiting))
        return await apply(self.places, view)

    async def _finished(self, view: View) -> Applied:
        applied = await apply(self.places, view)
        view.is_active = False
        if applied.problem is None:
            view.has_ended = True
            await asyncio.to_thread(look_below, view)
            await self._store.end(view.number)
            await self._prune()
        return applied

    async def _earlier(self, session: str, project: Path, upper: Path, parts: tuple[str, ...] = ()) -> View | None:
        """The view of a session as the last server has left it, None if it has none; of no parts, where nobody looks at it."""
        sets = await self._store.of_session(session)
        last = next((each for each in sets if each.kind == "run" and each.project == str(project)), None)
        if last is None or not upper.is_dir():
            return None
        view = View(session, project, upper, last.number, last.began_ns, last.is_reviewed, parts)
        left = lowest(Origin.AGENT_FILE, last.origin or Origin.AGENT_FILE)
        view.origin = lambda: left
        latest = await self._store.latest(session, project)
        await asyncio.to_thread(_find_left, view, latest, has_ended=last.ended_at is not None)
        taken_back = self._taken_back.pop((session, str(project)), {})
        view.left |= {path: Left(state) for path, state in taken_back.items()}
        await self._load_waiting(view)
        return view

    async def _load_waiting(self, view: View) -> None:
        numbers = {
            each.number for each in await self._store.of_session(view.session) if each.project == str(view.project)
        }
        held = [each for each in await self._store.held(view.session) if each.number in numbers]
        view.waiting = {each.path: each for each in held if not each.is_thrown}
        view.thrown = {each.path: each.after for each in held if each.is_thrown}

    def _prepare(self) -> None:
        private_folder(self._folder)
        self.places.blobs.prepare()
        git_trees.remove_left(self._folder)

    def _index(self, project: Path) -> str | None:
        with contextlib.suppress(OSError, ParachuteError), Folder.open_unlinked(project) as folder:
            return git_files.entries_digest(folder.read(".git/index", _INDEX))
        return None

    async def _prune(self) -> None:
        """Forget the oldest runs that are over the limits; at most once an hour."""
        if self._clock.elapsed() < self._pruned + _PRUNE_SECONDS:
            return
        self._pruned = self._clock.elapsed()
        async with self.places.keeping:
            named = await asyncio.to_thread(self.direct.snapshots.hashes)
            since = self._clock.now() - timedelta(days=self._settings.keep_days)
            await prune(self.places, since, self._settings.keep_megabytes << 20, named)


def _find_left(view: View, latest: dict[str, State], *, has_ended: bool) -> None:
    """Find out what was written of a view as it is; after the end of a turn everything in it was handled."""
    with Folder.open_unlinked(view.project) as project, Folder.open(view.upper) as upper:
        view.left = {path: Left(state) for path, state in latest.items() if status_of(upper, path) is not None}
        if has_ended:
            scan = Scan(project, upper, {})
            view.known = {each.path: each.seen for each in scan.run(()) if each.seen} | scan.noted
            view.has_ended, view.is_active = True, False
