"""The files of a context as they go into a prompt, and what the vault has of them."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from parachute.base.answers import Answer
from parachute.base.steering.imports import DEEPEST, MOST, TOGETHER

NAMES = ("AGENTS.md", "CLAUDE.md")
"""The first one that is there counts, and never both."""

LARGEST_FILE = 1024 * 1024
"""Bytes of a file that is read; also what can be approved."""

CHAIN_TOKENS = 32_000
"""Of all files of a prompt together."""

_BYTES_PER_TOKEN = 4
"""A rule of thumb for English text (docs.claude.com, "Token counting"); of bytes, since other alphabets take more tokens."""

Level = Literal["root", "parent", "direct", "directory"]
"""Reason why a file is in a chain: the vault's own, above a chosen folder, chosen, or of the working directory."""

Problem = Literal["missing", "large", "binary", "unreadable", "not_left"]

SENTENCES: dict[Problem, str] = {
    "missing": "has no AGENTS.md and no CLAUDE.md, or does not exist",
    "large": f"is larger than {LARGEST_FILE // 1024**2} MB, or all files together than {TOGETHER // 1024**2} MB",
    "binary": "is no text",
    "unreadable": "cannot be read",
    "not_left": "is in none of the folders that are left to this conversation",
}


_NOT_READ = f"only text files in its own folder are, of hidden ones its .claude/rules, {DEEPEST} steps deep and {MOST} in all at the most"


def tokens_of(text: str) -> int:
    """The tokens of a text, about."""
    return tokens_of_size(len(text.encode(errors="replace")))


def tokens_of_size(size: int) -> int:
    """The tokens of a text of so many bytes, about."""
    return -(-size // _BYTES_PER_TOKEN)


def shortened(text: str, tokens: int) -> str:
    """The beginning of a text that takes no more than so many tokens."""
    return text.encode(errors="replace")[: tokens * _BYTES_PER_TOKEN].decode(errors="ignore")


def is_text(name: str) -> bool:
    """Return whether a name can be said at all: that of a file may be bytes that no text stands for."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def on_one_line(name: str) -> str:
    """A name as it can stand in a heading: agents name folders, and a line break in one would begin their own text."""
    return "".join(sign if sign.isprintable() else "�" for sign in name)


class Words(NamedTuple):
    """Text of a file: `text` is all of it, `body` what follows the front matter; `hash` is that of its bytes.

    `imports` are the references to other files in it.
    """

    text: str
    body: str
    hash: str
    imports: tuple[str, ...] = ()


class Found(NamedTuple):
    """File of one place: its path, relative to the folder that was asked; `unused` is the other of two."""

    path: str
    words: Words | None = None
    problem: Problem | None = "missing"
    unused: str | None = None

    @property
    def imports(self) -> tuple[str, ...]:
        """The references in it."""
        return self.words.imports if self.words else ()

    @property
    def size(self) -> int:
        """The characters that are kept of it."""
        return len(self.words.text) if self.words else 0


@dataclasses.dataclass(frozen=True, slots=True)
class ContextFile:
    """A file of a chain; `folder` and `path` are relative to the vault where they lie in it, `text` is what goes into the prompt.

    `brought_by` are the files that import it, or the folder of rules, none for the own file of a place, and `not_read` is what it
    imports itself and does not get.
    """

    path: str
    folder: str
    level: Level
    text: str = ""
    tokens: int = 0
    hash: str = ""
    problem: Problem | None = None
    unused: str | None = None
    is_cut: bool = False
    is_by_agent: bool = False
    needs_approval: bool = False
    real: Path = Path()
    words: Words | None = dataclasses.field(default=None, repr=False)
    brought_by: tuple[Path, ...] = ()
    not_read: tuple[str, ...] = ()

    @property
    def exists(self) -> bool:
        """False for one that was chosen and is not there."""
        return self.problem != "missing"


class Chain(Struct, frozen=True):
    """The files of a prompt, in their order."""

    files: tuple[ContextFile, ...] = ()
    directory: str | None = None
    """The working directory, as the folders of files are named."""

    @property
    def working_directory_file(self) -> str | None:
        """The file of the working directory, whatever else brings it."""
        return next(
            (each.path for each in self.included if each.folder == self.directory and not each.brought_by), None
        )

    @property
    def tokens(self) -> int:
        """The tokens of all together."""
        return sum(each.tokens for each in self.files)

    @property
    def is_cut(self) -> bool:
        """True if not all of it fits into a prompt."""
        return any(each.is_cut for each in self.files)

    @property
    def included(self) -> list[ContextFile]:
        """The files of which something goes into the prompt."""
        return [each for each in self.files if each.text]

    @property
    def left_out(self) -> list[str]:
        """The files that are not approved for what runs directly."""
        return [each.path for each in self.files if each.needs_approval]

    @property
    def problems(self) -> list[str]:
        """A sentence for each chosen place that brings nothing, for each file that cannot be read, and for each import left out."""
        found = [
            f"{on_one_line(each.folder if each.problem == 'missing' else each.path)} {SENTENCES[each.problem]}."
            for each in self.files
            if each.problem is not None
        ]
        for each in self.files:
            if each.not_read:
                named = ", ".join(f"@{on_one_line(reference[:100])}" for reference in each.not_read[:5])
                found.append(f"{on_one_line(each.path)} imports {named}, which is not read: {_NOT_READ}.")
        return found

    def left(self, may_open: Callable[[Path], bool]) -> "Chain":
        """The chain without the files that a conversation may not open; of a chosen one a sentence remains."""
        kept = []
        for each in self.files:
            if may_open(each.real):
                kept.append(each)
            elif each.level == "direct":
                gone = dataclasses.replace(
                    each, text="", tokens=0, words=None, problem="not_left", needs_approval=False
                )
                kept.append(gone)
        return replace(self, files=tuple(kept))


class ShownContextFile(Answer, frozen=True):
    """A file of a chain as the app reads it (contract, section 6), and what else there is to know."""

    path: str
    folder: str = field(name="folder_path")
    level: Level
    tokens: int
    exists: bool
    problem: Problem | None
    hash: str
    is_cut: bool = field(name="truncated")
    is_by_agent: bool = field(name="changed_by_agent")
    unused: str | None


class ShownChain(Answer, frozen=True):
    """The files of a prompt as the app reads them (contract, section 6)."""

    files: tuple[ShownContextFile, ...]
    tokens: int = field(name="total_tokens")
    is_cut: bool = field(name="truncated")


NO_CONTEXT = Chain()
