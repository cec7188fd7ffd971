"""What judging a command line finds: the simple commands, and what is known about variables and folders on the way."""

import os
from dataclasses import dataclass, field
from enum import Enum

from parachute.permissions.paths import joined
from parachute.permissions.words import Pieces, Unparsable, Word

# Scripts inside scripts (`bash -c "bash -c ..."`), and folders that a line may be in.
NESTING_LIMIT = 8
FOLDER_LIMIT = 32
COMMAND_LIMIT = 4096
LINE_WORD_LIMIT = 8192


@dataclass(frozen=True, slots=True)
class Redirect:
    """One redirect to or from a file."""

    operator: str
    target: Word

    @property
    def writes(self) -> bool:
        """Whether the file is written."""
        return self.operator != "<"


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One program with its arguments; `name` is empty where only redirects or assignments stand.

    `program` is the name as written, `name` its last part without case. `wrapper` says that everything it starts stands
    beside it in the list. `folders` are the folders it may run in; `lost` says that it may also be another one.
    """

    name: str
    program: str
    arguments: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    assignments: tuple[tuple[str, Word], ...] = ()
    folders: tuple[str, ...] = ()
    lost: bool = False
    wrapper: bool = False


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A parsed command line: its simple commands in order, the functions it defines, and those that multiply without end."""

    commands: tuple[SimpleCommand, ...]
    functions: frozenset[str] = frozenset()
    fork_bombs: frozenset[str] = frozenset()
    hidden_globs: bool = False


class Stream(Enum):
    """Standard input that is no known text: nothing, a file named in the line, or something unseen."""

    EMPTY = "empty"
    FILE = "file"
    UNSEEN = "unseen"


Stdin = str | Stream


@dataclass(slots=True)
class State:
    """What is known while a command line is walked."""

    user_home: str
    folders: list[str]
    lost: bool = False
    arrived: list[str] | None = None
    commands: list[SimpleCommand] = field(default_factory=list)
    variables: dict[str, list[Pieces]] = field(default_factory=dict)
    functions: dict[str, set[str]] = field(default_factory=dict)
    multiplying: set[str] = field(default_factory=set)
    repeats: bool = False
    nesting: int = 0
    words: int = 0

    @property
    def home(self) -> str | None:
        """The folder behind `~`, None when the line sets HOME itself."""
        return None if "HOME" in self.variables else self.user_home

    def add(self, command: SimpleCommand) -> None:
        """Append a command; a line of too many is refused."""
        if len(self.commands) >= COMMAND_LIMIT:
            raise Unparsable(f"The command line has more than {COMMAND_LIMIT} commands.", "Run it in parts.")
        self.words += len(command.arguments)
        if self.words > LINE_WORD_LIMIT:
            raise Unparsable(f"The command line has more than {LINE_WORD_LIMIT} words.", "Run it in parts.")
        self.commands.append(command)

    def assign(self, name: str, value: Pieces) -> None:
        """Remember one more value that the variable may have."""
        values = self.variables.setdefault(name, [])
        if value not in values:
            values.append(value)

    def go(self, target: Word) -> None:
        """Remember that the line may now be in the target folder."""
        if target.pattern is not None or target.text.startswith("-") or "CDPATH" in self.variables:
            self.lost = True
            self.arrived = None
            return
        # The shell follows `..` by the letters, the kernel by the links: both count.
        arrived = dict.fromkeys(
            place
            for folder in self.folders
            for whole in (joined(folder, target.text),)
            for place in (whole, os.path.normpath(whole))
        )
        self.arrived = list(arrived)
        self.folders = list(dict.fromkeys([*self.folders, *arrived]))
        if len(self.folders) > FOLDER_LIMIT:
            raise Unparsable("The command line changes its folder too often.", "Run it in parts.")
