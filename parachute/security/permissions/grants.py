"""Grants: what a person allowed for a session, in the form that users know from Claude Code."""

import re
import shlex
from pathlib import Path

from msgspec import Struct

from parachute.base.errors import InvalidInput
from parachute.security.permissions.models import Access
from parachute.security.permissions.paths import CONTROL, below, joined, real_path
from parachute.security.permissions.shell.commands import CommandLine
from parachute.security.permissions.shell.listed import has_table, program_of, uncovered

# A grant is shown to a person in one line and stored with the session.
GRANT_LIMIT = 4096

_FORM = re.compile(r"(Read|Edit|Bash)\((.+)\)", re.DOTALL)
_OLD_FORM = re.compile(r"(read|write|run):(.+)", re.DOTALL)
_TOOLS = {"Read": Access.READ, "Edit": Access.WRITE, "Bash": Access.RUN}
_PATH = re.compile(r"\.?(/(?!(\.{0,2}|\*{1,2})(/|$))[^/]+)*(/\*{1,2})?")
_NO_FILE = re.compile(r"/dev/(null|stdin|stdout|stderr|fd/\d+)")


class Grant(Struct, frozen=True):
    """One thing that a person allowed for a session.

    A path begins with `/` in the vault and with `./` in the working directory, and means a file (`/a/b.md`), the files of
    a folder (`/a/*`) or everything below it (`/a/**`). A command is a whole line (`git status`) or a beginning (`git:*`), which
    counts for programs of which it is known what their words do, and covers what only reads.
    """

    access: Access
    pattern: str

    @classmethod
    def parse(cls, text: str) -> "Grant":
        """Return the grant that a text means: `Read(/a/**)`, `Edit(/a/*)`, `Bash(git:*)`, or the older `read:a/**/*`."""
        if old := _OLD_FORM.fullmatch(text):
            path = re.sub(r"\*\*/\*$", "**", old[2])
            command = old[1] == "run"
            return cls(Access(old[1]), f"{old[2]}:*" if command else path if path.startswith("./") else f"/{path}")
        if form := _FORM.fullmatch(text):
            return cls(_TOOLS[form[1]], form[2])
        raise InvalidInput(
            f"The grant {text[:80]!r} must be Read(…), Edit(…) or Bash(…).", "Write Bash(git:*).", key="grant_invalid"
        )

    def __post_init__(self) -> None:
        path = _PATH.fullmatch(self.pattern) and not CONTROL.search(self.pattern)
        if not (self.pattern.strip(" :*") if self.access is Access.RUN else path) or len(self.pattern) > GRANT_LIMIT:
            raise InvalidInput(
                f"The grant of {self.pattern[:80]!r} is not clear.",
                "Write git:*, /a.md, /a/* or ./**.",
                key="grant_unclear",
            )

    def __str__(self) -> str:
        return f"{next(tool for tool, access in _TOOLS.items() if access is self.access)}({self.pattern})"

    def covers(self, access: Access, path: str, is_folder: bool) -> bool:
        """Return whether it opens a path; a folder means everything below it."""
        if self.access is not access and (self.access, access) != (Access.WRITE, Access.READ):
            return False
        if self.pattern.endswith("/**"):
            return f"{path}/".startswith(self.pattern[:-2]) and (is_folder or path != self.pattern[:-3])
        return not is_folder and self.pattern in {path, f"{path.rpartition('/')[0]}/*"}


class Grants(Struct, frozen=True):
    """All grants of a session; paths count in the vault and the working directory, and beyond them no grant reaches."""

    given: tuple[Grant, ...]
    vault: Path
    folder: Path

    def _located(self, path: str) -> str | None:
        real = real_path(joined(self.folder, path))
        for prefix, root in (("", real_path(self.vault)), (".", real_path(self.folder))):
            if below(real, root):
                return f"{prefix}/{real[len(root) :].lstrip('/')}"
        return None

    def cover_path(self, access: Access, path: str, is_folder: bool) -> bool:
        """Return whether a grant opens the path; a folder means everything below it."""
        located = self._located(path)
        return located is not None and any(grant.covers(access, located, is_folder) for grant in self.given)

    def cover_line(self, line: CommandLine) -> bool:
        """Return whether the grants cover all that a command line runs and every file that it redirects to or from."""
        runs = [grant.pattern for grant in self.given if grant.access is Access.RUN]
        if any(run.removesuffix(":*").strip() == line.source.strip() for run in runs):
            return True
        beginnings = [run.removesuffix(":*") for run in runs if run.endswith(":*")]
        if uncovered(line, filter(has_table, beginnings)):
            return False
        for access, word in (command.redirect for command in line.commands if command.redirect):
            # Behind `cd` a relative path may lie anywhere.
            clear = word.pattern is None and (word.text[:1] == "/" or not (line.folders or word.text[:1] == "~"))
            if not _NO_FILE.fullmatch(word.text) and not (clear and self.cover_path(access, word.text, False)):
                return False
        return True

    def suggest_for_path(self, access: Access, path: str, is_folder: bool) -> tuple[Grant, ...]:
        """Return the grants to offer for a path, from the file itself to everything."""
        located = self._located(path)
        if located is None or {"*", "**"} & set(located.split("/")) or CONTROL.search(located):
            return ()
        parent = located.rstrip("/") if is_folder else located.rpartition("/")[0]
        patterns = [f"{parent}/**"] if is_folder else [located, f"{parent}/*", f"{parent}/**"]
        while "/" in parent:
            parent = parent.rpartition("/")[0]
            patterns.append(f"{parent}/**")
        return tuple(Grant(access, pattern) for pattern in patterns)


def suggest_for_command(line: CommandLine) -> tuple[Grant, ...]:
    """Return the grants to offer for a command line: the whole line, and for a single command the beginnings that would cover it."""
    suggestions = [] if line.source.endswith(":*") else [line.source.strip()]
    own = uncovered(line, ())
    name = shlex.quote(program_of(own[0])) if len(own) == 1 and own[0].program else ""
    if has_table(name) and not uncovered(line, [name]):
        words = [word.text for word in own[0].arguments[:1] if word.pattern is None]
        if words and re.fullmatch(r"[a-z][a-z0-9-]*", words[0]):
            suggestions.append(f"{shlex.join([program_of(own[0]), *words])}:*")
        suggestions.append(f"{name}:*")
    return tuple(Grant(Access.RUN, one) for one in suggestions if len(one) <= GRANT_LIMIT)
