"""Plans of what is written and what waits, decided for each candidate with its content in hand."""

import dataclasses
import os
import stat
import time
from collections.abc import Collection, Iterable
from contextlib import ExitStack

from msgspec import Struct, field
from msgspec.structs import replace

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.base.signatures import Signature
from parachute.base.steering.judging import folded, holds_obeyed, is_told_in_project
from parachute.base.steering.names import REPOSITORY
from parachute.changes import git_files, git_trees, obeyed, together
from parachute.changes.blobs import Blobs, Staged, TooLarge
from parachute.changes.databases import says_the_same
from parachute.changes.differences import LONGEST, counts
from parachute.changes.models import NEVER_APPLIED, NOTHING, Held, Reason, State
from parachute.changes.present import Present, look, status_of
from parachute.changes.scanning import Candidate, Seen, is_hidden, unexplained
from parachute.changes.views import View

_MOST_HELD = 5000
_MOST_HELD_BYTES = 1 << 30
_SPECIAL_BITS = 0o7000
_INDEX = 64 << 20
_PIECE = 1 << 20


class Change(Struct, frozen=True):
    """One path to write: what is there, which must still be so, and what comes there."""

    path: str
    before: Present
    after: State
    content: Staged | None = None
    seen: Seen = ()
    added: int | None = None
    removed: int | None = None


class Plan(Struct):
    """A batch: what to write, what waits, and what needs neither."""

    changes: list[Change] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    done: dict[str, Seen] = field(default_factory=dict)


class Planner:
    """Decides about the candidates of one look at a view, in their order. It waits for the disk."""

    def __init__(
        self,
        blobs: Blobs,
        project: Folder,
        upper: Folder,
        view: View,
        limit: int,
        named: Collection[str],
        told: Collection[str] = (),
    ) -> None:
        self._blobs = blobs
        self._project = project
        self._upper = upper
        self._view = view
        self._limit = limit
        self._named = named
        self._told = told
        self._commit: Reason | None = None
        """Reason why the rest of a commit waits, once a part of it does."""
        self._has_looked = False
        self._references: dict[bytes, bytes] | None = None
        """References of the owner's repository, once they are needed."""
        self._judged: set[bytes] = set()
        """Objects that references may lead to."""
        self._held_bytes = 0
        self._made: dict[str, State] = {}
        """Folders that are about to be made, and get permissions that shut them after what is in them."""
        self._unsettled: dict[str, bool] = {}
        """Databases that were looked at, with True for those that are decided as a whole."""

    def plan(self, candidates: Iterable[Candidate]) -> Plan:
        """Decide; whatever waits or is replaced is kept afterwards. Error: OSError, of the state directory or a full disk."""
        plan = Plan()
        kept: list[Staged] = []
        try:
            for candidate in candidates:
                kept += self._decide(candidate, plan)
            self._blobs.keep(kept)
        except BaseException:
            for change in plan.changes:
                change.before.drop()
                if change.content is not None:
                    change.content.drop()
            raise
        return plan

    def conflict(self, candidate_path: str) -> None:
        """A path could not be written: if it is of a commit, what refers to it waits."""
        if candidate_path.startswith(f"{REPOSITORY}/"):
            self._commit = self._commit or "commit"

    def _decide(self, each: Candidate, plan: Plan) -> list[Staged]:
        """Decide about one; the contents that are to be kept."""
        database = together.database_of(each.path)
        if database not in self._unsettled:
            self._unsettled[database] = self._is_unsettled(each)
            if self._unsettled[database]:
                plan.done[each.path] = each.seen
                return self._decide_database(database, plan)
        if self._unsettled[database] or together.is_momentary(self._project, self._upper, each.path):
            plan.done[each.path] = each.seen
            return []
        present, wanted, seen, reason = self._read(each)
        after = wanted.state
        if present.state.kind != "folder" and each.path in self._made:
            present.drop()
            present = Present(self._made[each.path])
        if after.kind == "none" and each.wanted != "none":
            present.drop()
            return []  # it has gone meanwhile
        if not reason and each.git == "object" and present.state.kind != "none":
            reason, after = None, present.state  # an object never changes
        left, is_same = self._view.left.get(each.path), after == present.state
        was_thrown = self._view.thrown.get(each.path) == after
        if is_same or was_thrown or (left is not None and left.state == after and not each.place.reason):
            plan.done[each.path] = seen
            present.drop()
            wanted.drop()
            return []
        if reason not in NEVER_APPLIED and self._is_owners(each, present):
            reason = "conflict"
        reason = reason or each.place.reason or self._judge(each, present, wanted)
        if reason is None and self._view.is_reviewed:
            reason = "review"
        added, removed = _counted(present, wanted)
        if reason is None:
            if after.kind == "folder":
                self._made[each.path] = after
            plan.changes.append(Change(each.path, present, after, wanted.content, seen, added, removed))
            return [present.content] if present.content else []
        if each.git in ("object", "ref", "head") and not each.path.startswith(f"{REPOSITORY}/logs/"):
            self._commit = self._commit or "commit"
        present.drop()
        root = (each.place.root or each.path).encode(errors="backslashreplace").decode()
        is_kept = wanted.content is not None and self._may_hold(wanted.content)
        if not is_kept and after.kind in ("file", "link") and reason not in NEVER_APPLIED:
            reason = "many"
        path = each.path.encode(errors="backslashreplace").decode()
        earlier = self._view.waiting.get(path)
        held = Held(self._view.number, path, root, reason, present.state, after, added=added, removed=removed)
        if earlier is not None and held == replace(earlier, number=held.number):
            held = earlier  # it is what that run did
        plan.held.append(held)
        plan.done[each.path] = seen
        if not is_kept:
            wanted.drop()
        return [wanted.content] if is_kept and wanted.content else []

    def _is_unsettled(self, each: Candidate) -> bool:
        if each.wanted == "folder" or each.git or each.place.reason:
            return False
        return together.is_unsettled(self._project, self._upper, each.path)

    def _decide_database(self, path: str, plan: Plan) -> list[Staged]:
        """Decide about a database and what lies beside it: all of it waits, or an agent has only read and nothing has changed."""
        reason: Reason = "in_use"
        view, owner = dict[str, Present](), dict[str, Present]()
        for suffix in together.MEMBERS:
            for folder, found in ((self._project, owner), (self._upper, view)):
                try:
                    found[suffix] = look(self._blobs, folder, path + suffix, self._limit)
                except (TooLarge, PermissionError):
                    reason, found[suffix] = "large", self._only_named(folder, path + suffix)
            if view[suffix].state.kind == "other":
                view[suffix] = Present(NOTHING)
            elif view[suffix].state == NOTHING and not is_hidden(self._upper, path + suffix):
                view[suffix] = owner[suffix]
        if reason == "in_use" and says_the_same(view, owner):
            self._view.is_outdated = True  # the agent goes on with the owner's
            return []
        kept = []
        for suffix, wanted in view.items():
            before, after = owner[suffix].state, wanted.state
            if before.kind == after.kind == "none":
                continue
            if wanted.content is not None:
                kept.append(wanted.content)
                reason = reason if self._may_hold(wanted.content) else "many"
            plan.held.append(Held(self._view.number, path + suffix, path, reason, before, after))
        return kept

    def _read(self, each: Candidate) -> tuple[Present, Present, Seen, Reason | None]:
        """Return what the owner has, what the view has, how that is known again, and why it cannot be applied."""
        reason: Reason | None = None
        try:
            present = look(self._blobs, self._project, each.path, self._limit)
        except TooLarge:
            present, reason = self._only_named(self._project, each.path), "large"
        except PermissionError:
            present, reason = self._only_named(self._project, each.path), "unreadable"
        try:
            each.path.encode()
        except UnicodeEncodeError:
            return present, Present(State("other")), each.seen, "name"
        if each.wanted == "none":
            return present, Present(NOTHING), each.seen, reason
        if each.wanted == "folder":
            mode = each.mode & 0o777
            if present.state.kind == "folder":
                mode |= present.state.mode & _SPECIAL_BITS
            return present, Present(State("folder", mode)), each.seen, reason
        try:
            wanted = look(self._blobs, self._upper, each.path, self._limit)
            if wanted.state.kind == "file" and self._is_unexplained(each.path):
                reason = "special"
        except TooLarge:
            wanted, reason = self._only_named(self._upper, each.path), "large"
        except OSError as error:
            if error.errno is not None and not isinstance(error, PermissionError):
                present.drop()
                raise
            wanted, reason = self._only_named(self._upper, each.path), "unreadable"
        if wanted.state.kind not in ("file", "link"):
            reason = reason or "special"
        bits = 0o777
        if present.state.kind == "file" and present.state.hash == wanted.state.hash:
            bits |= present.state.mode & _SPECIAL_BITS
        mode = wanted.state.mode & 0o777 | (present.state.mode & bits & _SPECIAL_BITS)
        wanted = replace(
            wanted, state=dataclasses.replace(wanted.state, mode=mode if wanted.state.kind == "file" else 0)
        )
        return present, wanted, self._known_again(wanted.signature), reason

    def _judge(self, each: Candidate, present: Present, wanted: Present) -> Reason | None:
        """Return why a change waits that nothing is known against so far."""
        if wanted.state.kind == "link":
            text = os.fsdecode(b"".join(wanted.content.chunks())) if wanted.content else ""
            if each.git or obeyed.leads_out(each.path, text) or obeyed.leads_to(each.path, self._named):
                return "link"
        if each.leads and not self._has_looked:
            self._has_looked = True
            if self._has_obeyed():
                self._commit = "commit"
        if each.leads and self._commit:
            return self._commit  # also what goes: it may have gone to where it waits
        if each.git and wanted.state.kind == "file":
            assert wanted.content is not None
            name = each.path.removeprefix(f"{REPOSITORY}/")
            if not git_files.is_valid(name, wanted.content.chunks()) or not self._is_true(name, wanted.content):
                return "git"
            if each.leads and not self._may_lead(name, present, wanted.content):
                return "commit"
        if wanted.state.kind != "folder" and self._may_not_instruct(each.path):
            return "origin"
        return None

    def _is_owners(self, each: Candidate, present: Present) -> bool:
        """Return whether the owner has changed a path since the agent has seen it; if so it stays theirs until they answer."""
        left, earlier = self._view.left.get(each.path), self._view.waiting.get(each.path)
        if left is not None and (present.signature == left.signature or present.state == left.state):
            return False
        is_fixed = earlier is not None and (earlier.reason == "conflict" or present.state != earlier.before)
        above = (each.path[:place] for place, letter in enumerate(each.path) if letter == "/")
        is_fixed |= any(path in self._view.waiting and self._view.waiting[path].reason == "conflict" for path in above)
        if left is not None or is_fixed:
            return not self._is_index(each, present)
        if present.signature is None:
            return False  # nothing is lost where both remain: the agent's file, and the way back to none
        if present.state.kind == "other":
            return True
        if present.state.kind == "folder":
            return False  # the times of a folder are those of what is in it
        return present.signature.changed_ns >= self._view.began_ns and not self._is_index(each, present)

    def _is_index(self, each: Candidate, present: Present) -> bool:
        """Return whether this is git's index, and says of files what it said when the turn began."""
        if each.git != "index" or present.content is None or self._view.index is None:
            return False
        return git_files.entries_digest(b"".join(present.content.chunks())) == self._view.index

    def _has_obeyed(self) -> bool:
        """Return whether the index has something anew that waits in the project: git would put it there as part of a commit."""
        indexes = []
        for folder in (self._upper, self._project):
            try:
                indexes.append(folder.read(f"{REPOSITORY}/index", _INDEX))
            except (OSError, InvalidInput):
                indexes.append(b"")
        return any(is_repository or self._waits(name) for name, is_repository in git_files.new_names(*indexes))

    def _waits(self, name: str) -> bool:
        """Return whether a file of this name would wait in the project."""
        return self._may_not_instruct(name) or holds_obeyed(name) or obeyed.is_named(name, self._named)

    def _may_not_instruct(self, path: str) -> bool:
        """Return whether agents are told what is at a path, and the turn has read what may not become that by itself."""
        is_told = folded(path) in self._told or is_told_in_project(path)
        return is_told and not self._view.origin().may_instruct

    def _waits_in_tree(self, entry: git_trees.Entry) -> bool:
        """Return whether an entry of a commit's tree would wait in the project."""
        if entry.link is not None and obeyed.leads_out(entry.path, entry.link):
            return True
        return entry.mode == git_trees.GITLINK or self._waits(entry.path)

    def _is_true(self, name: str, content: Staged) -> bool:
        """Return whether the index of a pack says where its objects are; True for everything else."""
        if not name.endswith(".idx"):
            return True
        is_long = len(name.rpartition("-")[2]) > len("x" * 40 + ".idx")
        with ExitStack() as stack:
            try:
                pack = stack.enter_context(self._upper.file(f"{REPOSITORY}/{name.removesuffix('.idx')}.pack"))
            except (OSError, InvalidInput):
                return False
            pieces = iter(lambda: pack.read(_PIECE), b"")
            return git_trees.is_true(self._blobs.folder.parent, content.chunks(), pieces, is_long=is_long)

    def _may_lead(self, name: str, present: Present, content: Staged) -> bool:
        """Return whether nothing that a reference newly leads to would wait in the project; False where git cannot read it."""
        before = b"".join(present.content.chunks()) if present.content else b""
        after = b"".join(content.chunks())
        new = git_trees.ids_in(name, after) - git_trees.ids_in(name, before)
        try:
            if self._references is None:
                with self._project.folder(REPOSITORY) as git:
                    self._references = git_trees.references(git)
            remote = git_trees.remote_lines(after) if name == "packed-refs" else {}
            if any(self._references.get(each) != found for each, found in remote.items()):
                return False
            known = {*self._references.values(), *self._judged}
            if new - known:
                repository = self._view.project / REPOSITORY
                brought = git_trees.brought(self._blobs.folder.parent, repository, new - known, known)
                if any(self._waits_in_tree(each) for each in brought):
                    return False
                self._judged |= new
        except (OSError, git_trees.Unread):
            return False
        return True

    def _is_unexplained(self, path: str) -> bool:
        with self._upper.file(path) as file:
            return unexplained(file.fileno())

    def _only_named(self, folder: Folder, path: str) -> Present:
        """A state without the content."""
        status = status_of(folder, path)
        if status is None:
            return Present(NOTHING)
        name = f"{status.st_ino}.{status.st_ctime_ns}"
        return Present(State("file", stat.S_IMODE(status.st_mode), name, status.st_size, status.st_mtime_ns))

    def _known_again(self, signature: Signature | None) -> Seen:
        if signature is None or not signature.differs_later(time.time_ns()):
            return ()  # it may change again and look the same
        return signature

    def _may_hold(self, content: Staged) -> bool:
        self._held_bytes += content.size + _MOST_HELD_BYTES // _MOST_HELD
        return self._held_bytes <= _MOST_HELD_BYTES


def _counted(present: Present, wanted: Present) -> tuple[int | None, int | None]:
    """Lines added and removed."""
    found = []
    for each in (present, wanted):
        if each.content is None:
            found.append(b"")
        elif each.content.size > LONGEST or each.state.kind != "file":
            return None, None
        else:
            found.append(b"".join(each.content.chunks()))
    return counts(*found) or (None, None)
