"""The pages of the documentation as a reader uses them: lines to type, files to save, examples."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import build  # noqa: E402

TYPED = ("", "sh", "console", "crontab")
"""The languages of blocks whose lines are typed; a block without a language is one."""

SHOWN = "text"
"""The language of what a page only shows, such as a tree of files."""

_PROMPT = "$ "
_TIME = 5
"""Fields before the command in a line of crontab."""


@dataclass(frozen=True, slots=True)
class Line:
    """A command of a page, with the output that the page shows below it."""

    place: str
    command: str
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, and the further word behind it, which is the path that it is saved under."""

    page: str
    number: int
    language: str
    path: str | None
    text: str

    @property
    def place(self) -> str:
        """The page and the line of the block."""
        return f"{self.page}:{self.number}"

    @property
    def is_typed(self) -> bool:
        """True for a block whose lines are commands."""
        return self.language in TYPED and self.path is None

    def lines(self) -> Iterator[Line]:
        """The commands: the lines with a prompt, or every line of a block without one."""
        has_prompts = self.text.startswith(_PROMPT)
        found: list[tuple[int, str, list[str]]] = []
        for offset, line in enumerate(self.text.splitlines(), 1):
            if found and found[-1][1].endswith("\\"):
                number, begun, shown = found[-1]
                found[-1] = (number, f"{begun}\n{line}", shown)
            elif line.startswith(_PROMPT) or (not has_prompts and line.strip()):
                found.append((self.number + offset, line.removeprefix(_PROMPT), []))
            elif found:
                found[-1][2].append(line)
        for number, command, shown in found:
            typed = command.split(maxsplit=_TIME)[_TIME] if self.language == "crontab" else command
            yield Line(f"{self.page}:{number}", typed, tuple(shown))


def names() -> list[str]:
    """All pages, by their path in the repository."""
    return [str(path.relative_to(ROOT)) for path in build.sources().values()]


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in order."""
    # The sentences are of no interest here, and most of the work; pages are read as tests are collected.
    return [_block(page, token) for token in _tokens(page, "inline") if token.type in ("fence", "code_block")]


def inline(page: str) -> list[tuple[str, list[str]]]:
    """Return the code in each sentence, paragraph or cell of a table, with its place."""
    return [
        (
            f"{page}:{token.map[0] + 1}" if token.map else page,
            [" ".join(part.content.split()) for part in token.children if part.type == "code_inline"],
        )
        for token in _tokens(page)
        if token.children
    ]


def before(block: Block) -> str:
    """The text of the page above a block."""
    return "\n".join((ROOT / block.page).read_text(encoding="utf-8").splitlines()[: block.number - 1])


def _block(page: str, token: Token) -> Block:
    language, *words = token.info.split()[:2] or [""]
    number = token.map[0] + 1 if token.map else 0
    return Block(page, number, language, words[0] if words else None, token.content)


def _tokens(page: str, *without: str) -> list[Token]:
    reader = MarkdownIt("commonmark").enable("table").disable(without)
    return reader.parse((ROOT / page).read_text(encoding="utf-8"))
