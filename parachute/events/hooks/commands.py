"""Command lines: what exactly they would run, as one hash, so that what was approved is what runs."""

import hashlib
import json
import os
import re
import shlex
import shutil
import stat
import sys
from collections.abc import Sequence
from pathlib import Path, PurePath

from msgspec import Struct

from parachute.base.files import private_folder
from parachute.events.hooks.models import ALIAS, BUILT_IN, WITHOUT_PROCESS, CannotRun

_SHELL = frozenset("|&;<>()$`*?\n")
_FILES_LIMIT = 64 * 1024 * 1024
# What a shell, or a list in an option, takes for the end of a word; where a redirection leads is written, not read.
_BETWEEN = re.compile(r"[\s;|&()<>\"'`={},:]+")
_REDIRECTION = re.compile(r"\d*>>?\s*[^\s;|&()<>]+")
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt/homebrew", "/nix/store", "/run/current-system")
_PYTHON = frozenset(("python", "python3"))


class File(Struct, frozen=True):
    """A file that a command names: the word it stands at, and its content as it was looked at.

    `prefix` is what stands before it in that word, None where it is somewhere in a text.
    """

    index: int
    path: Path
    content: bytes
    mode: int
    prefix: str | None = ""

    @property
    def sha256(self) -> str:
        """The hash of its content."""
        return hashlib.sha256(self.content).hexdigest()


class Command(Struct, frozen=True):
    """A command line taken apart; `digest` covers the line and the content of every file that it names."""

    line: str
    arguments: tuple[str, ...]
    files: tuple[File, ...]
    is_built_in: bool

    @property
    def function(self) -> str | None:
        """The module of this package whose `answer` is called in place of a process, if this is one of those."""
        name = self.arguments[-1]
        return name if self.is_built_in and name in WITHOUT_PROCESS else None

    @property
    def digest(self) -> str:
        """The hash that is approved."""
        seen = [self.line, self.arguments[0], [[file.index, file.sha256] for file in self.files]]
        return f"sha256:{hashlib.sha256(json.dumps(seen).encode(errors='surrogatepass')).hexdigest()}"

    def materialise(self, folder: Path, trusted: Path) -> list[str]:
        """The arguments to start, with the looked-at content in place of files that could have changed since.

        Files below `trusted` and those of the system stay where they are, since no agent can write there.
        """
        arguments = list(self.arguments)
        for file in self.files:
            if file.prefix is not None and not _is_safe(file.path, trusted):
                copy = private_folder(folder / str(file.index)) / file.path.name
                descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o500 if file.mode & 0o100 else 0o400)
                with os.fdopen(descriptor, "wb") as written:
                    written.write(file.content)
                arguments[file.index] = f"{file.prefix}{copy}"
        return arguments


def prepare(line: str, folder: Path, search_path: Sequence[str]) -> Command:
    """Take a command line apart, as it would run in `folder`; error: CannotRun saying why it cannot."""
    words = split(line)
    if words[0] in _PYTHON:
        words[0] = sys.executable
    is_module = words[0] == sys.executable and len(words) > 2 and words[1] == "-m"
    if is_module and len(words) == 3 and words[2] in BUILT_IN:
        return Command(line, (sys.executable, "-I", "-m", words[2]), (), is_built_in=True)
    if "/" not in words[0]:
        found = shutil.which(words[0], path=os.pathsep.join(search_path))
        if found is None:
            raise CannotRun(f"There is no program {words[0]!r} in {', '.join(search_path)}.", key="no_program")
        words[0] = found
    files: list[File] = []
    left = _FILES_LIMIT
    named: list[tuple[str | None, str]]
    for index, word in enumerate(words):
        named = [("", str(_module_file(word, folder)))] if index == 2 and is_module else _names(word)
        for prefix, name in named:
            path = folder / name
            # The interpreter and programs of the system change with every update, and no agent can change them.
            if (index == 0 or prefix is None) and _is_of_system(path):
                continue
            file = _read(index, path, left, prefix)
            if file is not None:
                files.append(file)
                left -= len(file.content)
                if prefix is not None:
                    break
    if "/" in words[0] and not (folder / words[0]).is_file():
        raise CannotRun(f"{words[0]} does not exist.", key="program_gone")
    if not os.access(folder / words[0], os.X_OK):
        raise CannotRun(
            f"{words[0]} is not executable.", f"`chmod u+x {shlex.quote(words[0])}` makes it so.", key="not_executable"
        )
    words[0] = str(folder / words[0])
    return Command(line, tuple(words), tuple(files), is_built_in=False)


def split(line: str) -> list[str]:
    """The words of a command line; error: CannotRun where it needs a shell."""
    quote = ""
    characters = iter(line)
    for character in characters:
        if quote == "'":
            quote = "" if character == "'" else quote
        elif character == "\\":
            next(characters, "")
        elif quote == '"' and character not in "$`":
            quote = "" if character == '"' else quote
        elif character in "'\"":
            quote = character
        elif character in _SHELL:
            raise CannotRun(
                f"The command {line[:100]!r} needs a shell, because of its {character!r}.",
                "Quote that character, or write bash -c '…'.",
                key="needs_a_shell",
            )
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise CannotRun(f"The command {line[:100]!r} cannot be read: {error}.", key="command_unreadable") from error
    if not words or not words[0]:
        raise CannotRun("The command is empty.", key="command_empty")
    home = str(Path.home())
    return [home + word[1:] if word.startswith("~/") else word for word in words]


def shown_name(line: str) -> str:
    """A short name for a command: that of its script, its Python module or its program."""
    try:
        words = split(line)
    except CannotRun:
        return line.split()[0][:80]
    if PurePath(words[0]).name in _PYTHON and len(words) > 1:
        words = words[2:] if words[1] == "-m" and len(words) > 2 else words[1:]
        return words[0].rpartition(".")[2] if "/" not in words[0] and not words[0].endswith(".py") else _stem(words[0])
    return _stem(words[0])


def _stem(word: str) -> str:
    return PurePath(word).stem[:80] or word[:80]


def _names(word: str) -> list[tuple[str | None, str]]:
    """The parts of a word that may name a file: all of it, what follows `--option=` or `-I`, or else the words of a text.

    `bash -c 'sh /p/x'` names `/p/x`, and so does `--file=/p/x`.
    """
    if not word or "\0" in word:
        return []
    option, equals, value = word.partition("=")
    found: list[tuple[str | None, str]] = [("", word)]
    if equals:
        found.append((f"{option}=", value))
    if word.startswith("-"):
        found.append((word[:2], word[2:]))
    home = str(Path.home())
    text = _REDIRECTION.sub(" ", word.replace("${HOME}", home).replace("$HOME", home))
    parts = dict.fromkeys(part for part in _BETWEEN.split(text) if part and part != word)
    return found + [(None, home + part[1:] if part.startswith("~/") else part) for part in parts]


def _read(index: int, path: Path, limit: int, prefix: str | None = "") -> File | None:
    try:
        # O_NONBLOCK: opening a named pipe would wait for its writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except PermissionError as error:
        raise CannotRun(f"{path} cannot be read, so the hook is not run.", key="file_unreadable") from error
    except OSError:
        return None  # a word that names no file
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise CannotRun(
            f"The files that the command names have more than {_FILES_LIMIT >> 20} MB.", key="files_too_large"
        )
    return File(index, path.resolve(), content, status.st_mode, prefix)


def _module_file(name: str, folder: Path) -> Path:
    """The file in which Python, running in a folder, would find a module, without importing anything."""
    real = f"{__package__}.{name.removeprefix(ALIAS)}" if name.startswith(ALIAS) else name
    parts = real.split(".")
    if all(part.isidentifier() for part in parts):
        for entry in (str(folder), *sys.path):
            if not entry or not Path(entry).is_dir():
                continue
            package = Path(entry).joinpath(*parts)
            module = package.with_name(f"{package.name}.py")
            if module.is_file() and not (package / "__init__.py").is_file():
                return module
            if (package / "__main__.py").is_file():
                return package / "__main__.py"
    raise CannotRun(f"There is no Python module {name[:100]!r}.", key="no_python_module")


def _is_of_system(path: Path) -> bool:
    if str(path) == sys.executable:
        return True
    return any(path.resolve().is_relative_to(folder) for folder in _SYSTEM)


def _is_safe(path: Path, trusted: Path) -> bool:
    folders = (trusted.resolve(), Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve())
    return _is_of_system(path) or any(path.is_relative_to(folder) for folder in folders)
