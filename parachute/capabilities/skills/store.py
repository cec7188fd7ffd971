"""The skills in the vault, in projects and in the user's home."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.approved_hashes import ApprovedHashes
from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Conflict, InvalidInput, NotAllowed, NotFound, ParachuteError, Unavailable
from parachute.base.folders import Folder
from parachute.base.signatures import Signature, signature_of
from parachute.capabilities.places import Place, places
from parachute.capabilities.skills.models import Skill
from parachute.capabilities.skills.reading import FILE, MOST_FILES, SIZE_LIMIT, described, read_skill
from parachute.capabilities.texts import (
    LIMIT,
    check_new_description,
    check_new_name,
    check_unchanged,
    not_readable,
    read_fields,
)
from parachute.config.vault.service import Vault
from parachute.core import front_matter
from parachute.security.approved_prompts import shown_name

KIND = "skills"
_OTHERS = (".skills",)
"""Further folders of the vault."""

MOST = 1_000
"""Skills of one folder."""

_FIELDS = frozenset({"name", "description"})
"""Fields that whoever changes a skill has seen."""

_STATS = 5_000
"""Files that are looked at for one folder of skills; those of a skill beyond are read at each turn, within its own bounds."""

_Signatures = tuple[tuple[str, Signature], ...]


class HashedFile(Struct, frozen=True):
    """A file as it was read: its path in the skill, the hash of its content, and whether it can be executed."""

    name: str
    sha256: str
    is_executable: bool


class FoundSkill(Struct, frozen=True):
    """A skill with the place that it was found at; `digest` covers all its files, and is empty for one with a problem."""

    skill: Skill
    place: Place
    hashes: tuple[HashedFile, ...] = ()
    digest: str = ""


class SkillStore:
    """Reads, writes and approves skills; every method waits for the disk.

    `state` is the state directory; `home` is the user's folder, if skills in there count.
    """

    def __init__(self, vault: Vault, state: Path, home: Path | None, clock: Clock = SYSTEM) -> None:
        self._vault = vault
        self._clock = clock
        self._home = home
        hint = "Remove the file and approve your skills again: `parachute skills approve NAME`."
        self._approvals = ApprovedHashes(state / "skills-approved.json", "skill", "skill", hint)
        self._read: dict[Path, tuple[_Signatures, int, FoundSkill]] = {}

    def found(self, directory: Path | None = None) -> tuple[FoundSkill, ...]:
        """All skills by name; of two with one name that of the first place is taken."""
        found: dict[str, FoundSkill] = {}
        for place in places(self._vault.root, KIND, _OTHERS, directory, self._home):
            for each in self._of(place):
                found.setdefault(each.skill.name, each)
        return tuple(found[name] for name in sorted(found))

    def get(self, name: str, directory: Path | None = None) -> FoundSkill:
        """One skill; error: NotFound."""
        for each in self.found(directory):
            if each.skill.name == name:
                return each
        raise NotFound(
            f"There is no skill {name[:80]!r}.", "`parachute skills list` shows which there are.", key="no_such_skill"
        )

    def create(self, name: str, content: str, description: str = "") -> FoundSkill:
        """Write a skill, and approve it: who asks for it is the owner. Errors: InvalidInput, Conflict.

        A content with fields of its own keeps them; its name and its description are those given here.
        """
        check_new_name(name)
        if description:
            check_new_description(description)
        text = _with_fields(name, content, description)
        if len(text.encode(errors="replace")) > LIMIT:
            raise InvalidInput(f"content: it has more than {LIMIT:,} bytes.", key="content_too_long")
        path = f".claude/{KIND}/{name}"
        # As it will be read: what cannot be used is not written.
        if problem := described(Skill(name, "", "vault", path, text)).problem:
            raise InvalidInput(problem, key="skill_not_usable")
        if any(each.skill.name == name for each in self.found()):
            raise Conflict(f"The skill {name} already exists.", key="exists")
        try:
            with Folder.open(self._vault.root) as vault, vault.folder(f".claude/{KIND}", make=True) as folder:
                folder.make_folder(name)
                folder.write(f"{name}/{FILE}", text)
        except FileExistsError as error:
            raise Conflict(f"There is a folder {path} already.", key="exists") from error
        except OSError as error:
            raise Unavailable(f"{path} cannot be written: {error.strerror}.", key="not_writable") from error
        made = self.get(name)
        self._approve_written(made, text, [])
        return made

    def change(self, name: str, content: str, description: str = "", expected: str | None = None) -> FoundSkill:
        """Change the instructions of a skill of the vault whose ETag is `expected`, if that is given; its other files stay.

        A content without fields of its own keeps those of before. It is approved if it was, or if there is nothing else of it:
        whoever asks for it is the owner, but has not seen more. Errors: NotFound, NotAllowed, InvalidInput, Conflict.
        """
        before = self._own(name)
        skill = before.skill
        check_unchanged(f"The skill {name}", skill.content, expected)
        if skill.problem:
            raise not_readable(f"The skill {name}", skill.problem)
        text = _changed(skill, content, description)
        if len(text.encode(errors="replace")) > LIMIT:
            raise InvalidInput(f"content: it has more than {LIMIT:,} bytes.", key="content_too_long")
        if problem := described(replace(skill, content=text)).problem:
            raise InvalidInput(problem, key="skill_not_usable")
        others = [file for file in before.hashes if file.name != FILE] if skill.is_folder else []
        is_good = self.is_approved(before) or (not others and set(read_fields(text)[0]) <= _FIELDS)
        file = Path(skill.path).name
        try:
            with (
                before.place.open() as folder,
                folder.replacement(f"{file}/{FILE}" if skill.is_folder else file) as new,
            ):
                new.write(text.encode())
                new.commit()
        except OSError as error:
            raise Unavailable(f"{skill.path} cannot be written: {error.strerror}.", key="not_writable") from error
        made = self.get(name)
        if is_good:
            self._approve_written(made, text, others)
        return made

    def delete(self, name: str, directory: Path | None = None) -> None:
        """Remove a skill of the vault, and its approval; errors: NotFound, NotAllowed for one of another source."""
        each = self._own(name, directory)
        with each.place.open() as folder:
            folder.remove_tree(Path(each.skill.path).name)
        self._approvals.withdraw(self.approval_name(each))

    def approval_name(self, each: FoundSkill) -> str:
        """The name under which a skill is approved."""
        return shown_name(self._vault.root, self._vault.absolute(each.skill.path))

    def is_approved(self, each: FoundSkill) -> bool:
        """True if this skill, with all its files, may steer conversations that run directly; nothing may while approvals cannot be read."""
        return bool(self.approved([each]))

    def approved(self, skills: Iterable[FoundSkill]) -> frozenset[str]:
        """The names of those skills that may steer conversations that run directly; the approvals are read once."""
        try:
            digests = self._approvals.digests()
        except InvalidInput:
            return frozenset()
        return frozenset(each.skill.name for each in skills if self._approved_digest(each) in digests)

    def approve(self, each: FoundSkill) -> None:
        """Let a skill steer conversations that run directly, as it was found; error: InvalidInput for one with a problem."""
        if each.skill.problem or not each.digest:
            raise InvalidInput(
                f"The skill {each.skill.name} cannot be used. {each.skill.problem}", key="skill_not_usable"
            )
        name = self.approval_name(each)
        self._approvals.approve([(name, self._approved_digest(each))], {FILE: each.skill.content.encode()})

    def before(self, each: FoundSkill) -> bytes | None:
        """The instructions that were approved of it last."""
        return self._approvals.texts(self.approval_name(each)).get(FILE)

    def read(self, each: FoundSkill, file: HashedFile) -> bytes:
        """A file of a skill, as it was found; errors: OSError, Conflict if it is another by now."""
        with each.place.open() as folder:
            path = Path(each.skill.path).name
            content = folder.read(f"{path}/{file.name}" if each.skill.is_folder else path, SIZE_LIMIT)
        if hashlib.sha256(content).hexdigest() != file.sha256:
            raise Conflict(f"{file.name} of the skill {each.skill.name} is being changed.", key="changed")
        return content

    def _own(self, name: str, directory: Path | None = None) -> FoundSkill:
        """A skill of the vault; errors: NotFound, NotAllowed for one of another source."""
        each = self.get(name, directory)
        if each.place.source != "vault":
            raise NotAllowed(
                f"The skill {name} is not the vault's own, and stays.",
                f"Change or remove it where it comes from: {each.skill.path}",
                key="not_in_vault",
            )
        return each

    def _approve_written(self, made: FoundSkill, text: str, others: list[HashedFile]) -> None:
        """Approve what was written just now, beside these files; error: Conflict if there is anything else."""
        name = made.skill.name
        own = FILE if made.skill.is_folder else Path(made.skill.path).name
        written = {own: hashlib.sha256(text.encode()).hexdigest(), **{file.name: file.sha256 for file in others}}
        if {file.name: file.sha256 for file in made.hashes} != written:
            raise Conflict(
                f"{made.skill.path} was changed by another program, so the skill is not approved.",
                f"Review it and approve it: parachute skills approve {name}",
                key="changed",
            )
        self.approve(made)

    def _approved_digest(self, each: FoundSkill) -> str:
        # With the name in it: the same words elsewhere would steer other conversations.
        seen = json.dumps([self.approval_name(each), each.digest])
        return f"sha256:{hashlib.sha256(seen.encode(errors='surrogatepass')).hexdigest()}"

    def _of(self, place: Place) -> Iterator[FoundSkill]:
        left = _STATS
        try:
            with place.open() as folder:
                entries = sorted((each for each in folder.entries() if _is_skill(each)), key=lambda each: each.name)
                for entry in entries[:MOST]:
                    signatures = _signatures(folder, entry, min(left, MOST_FILES))
                    left -= len(signatures)
                    yield self._current(place, folder, entry.name, signatures)
                for entry in entries[MOST : MOST + 1]:
                    problem = f"A folder gives {MOST:,} skills: this one, and those after it, are left out."
                    path = self._vault.relative(place.path(entry.name))
                    yield FoundSkill(Skill(entry.name, "", place.source, path, problem=problem), place)
        except OSError:
            return  # there is no such folder, or a link in its place

    def _current(self, place: Place, folder: Folder, name: str, signatures: _Signatures) -> FoundSkill:
        path = place.path(name)
        known = self._read.get(path)
        if (
            known
            and signatures
            and known[0] == signatures
            and all(each.differs_later(known[1]) for _, each in signatures)
        ):
            return known[2]
        taken = int(self._clock.now().timestamp() * 1e9)
        skill = replace(read_skill(folder, Path(name), place.source), path=self._vault.relative(path))
        each = FoundSkill(skill, place)
        if skill.problem is None:
            try:
                each = _hashed(each, folder, name)
            except (OSError, ParachuteError) as error:
                each = FoundSkill(replace(skill, problem=f"It is being changed: {error}"), place)
        if len(self._read) >= 4 * MOST:
            self._read.clear()
        self._read[path] = signatures, taken, each
        return each


def _is_skill(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith(".") or not entry.name.isprintable():
        return False
    return entry.is_dir(follow_symlinks=False) or (entry.name.endswith(".md") and entry.name != "README.md")


def _signatures(folder: Folder, entry: os.DirEntry[str], most: int) -> _Signatures:
    """Of a skill and of all its files; empty where there are more than that, and what cannot be looked at."""
    found = [("", signature_of(entry.stat(follow_symlinks=False)))]
    if not entry.is_dir(follow_symlinks=False):
        return tuple(found)
    try:
        with folder.folder(entry.name) as own:
            for path, _, entries in own.walk(most=most):
                found += ((f"{path}/{each.name}", signature_of(each.stat(follow_symlinks=False))) for each in entries)
    except (OSError, InvalidInput):
        return ()
    return tuple(sorted(found))


def _hashed(each: FoundSkill, folder: Folder, name: str) -> FoundSkill:
    """With the hashes of all its files; errors: OSError, ParachuteError."""
    skill, hashes = each.skill, []
    for file in skill.files:
        with folder.file(f"{name}/{file.name}" if skill.is_folder else name) as opened:
            status = os.fstat(opened.fileno())
            content = opened.read(file.size + 1)
        if len(content) != file.size:
            raise Conflict(f"{file.name} grows or shrinks.", key="changed")
        is_executable = bool(status.st_mode & 0o100)
        hashes.append(HashedFile(file.name, hashlib.sha256(content).hexdigest(), is_executable))
    main = hashlib.sha256(skill.content.encode()).hexdigest()
    instructions = next((file for file in hashes if file.name == FILE or not skill.is_folder), None)
    if instructions is None or instructions.sha256 != main:
        raise Conflict("Its instructions are being changed.", key="changed")
    seen = json.dumps([skill.name, *([file.name, file.sha256, file.is_executable] for file in hashes)])
    digest = hashlib.sha256(seen.encode(errors="surrogatepass")).hexdigest()
    return replace(each, hashes=tuple(hashes), digest=digest)


def _with_fields(name: str, content: str, description: str) -> str:
    """A content with a name and a description at its top; error: InvalidInput."""
    parts = front_matter.split(content.strip())
    if parts.is_open:
        raise InvalidInput("content: the fields at its top have no second line `---`.", key="front_matter_open")
    changes: dict[tuple[str, ...], str] = {("name",): name, **({("description",): description} if description else {})}
    if parts.front is not None:
        return parts._replace(front=front_matter.edit(parts.front, changes, parts.newline)).text.rstrip() + "\n"
    fields = front_matter.write({path[0]: value for path, value in changes.items()})
    return f"---\n{fields}---\n\n{parts.body.strip()}\n"


def _changed(skill: Skill, content: str, description: str) -> str:
    """A content with the fields that the skill has, unless it brings its own; errors: InvalidInput, Conflict."""
    parts = front_matter.split(skill.content)
    if front_matter.split(content.strip()).front is None and parts.front is not None:
        content = parts._replace(body=f"{parts.newline}{content.strip()}{parts.newline}").text
    # What stays was read before, and is good as it is.
    if not description or description == skill.description:
        return content.strip() + "\n"
    check_new_description(description)
    return _with_fields(skill.name, content, description)


Reader = Callable[[FoundSkill, HashedFile], bytes]
