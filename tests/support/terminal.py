"""The real command as a process, in a home of its own."""

import codecs
import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from .fork_server import ForkServer
from .waiting import SECONDS as DEADLINE


@dataclass(frozen=True, slots=True)
class Result:
    """Command and its result."""

    arguments: tuple[str, ...]
    code: int
    out: str
    err: str

    def __str__(self) -> str:
        """The whole screen: the command, what it wrote, on which stream, and its exit code unless all was well."""
        said = _lines(self.out) + [f"2> {line}" for line in _lines(self.err)]
        ended = [f"exit code {self.code}"] if self.code else []
        return "\n".join([f"$ {shlex.join(['parachute', *self.arguments])}", *said, *ended, ""])


def _lines(text: str) -> list[str]:
    """Lines as a terminal has them: other characters that end a line elsewhere stay in it."""
    return text.removesuffix("\n").split("\n") if text else []


class Terminal:
    """Runs `parachute` with an environment of which nothing comes from the machine but its programs."""

    def __init__(self, folder: Path, forks: ForkServer) -> None:
        self._forks = forks
        self.home = folder / "p"
        self.screens: list[Result] = []
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PARACHUTE_HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "xterm",
            "TZ": "UTC",
        }

    def __call__(self, *arguments: str, stdin: str = "", **environment: str) -> Result:
        """Run a command to its end, with its standard streams in files."""
        all_variables = {**self.environment, **environment}
        result = Result(
            arguments, *self._forks.run(arguments, all_variables, self.environment["HOME"], stdin, DEADLINE)
        )
        assert "Traceback" not in result.err, result.err
        if "--json" not in arguments:
            self.screens.append(result)
        return result

    def ok(self, *arguments: str, stdin: str = "", **environment: str) -> str:
        """Run a command that must end well, and return its output."""
        result = self(*arguments, stdin=stdin, **environment)
        assert result.code == 0, result
        return result.out

    def fails(self, *arguments: str, code: int = 1, **environment: str) -> str:
        """Run a command that must fail with a sentence, and return what it says."""
        result = self(*arguments, **environment)
        assert result.code == code, result
        assert "Error: " in result.err, result
        return result.err

    @contextmanager
    def background(self, *arguments: str, stdin: int = subprocess.DEVNULL) -> Iterator[subprocess.Popen[str]]:
        """Run a command beside the test; it is ended with the block."""
        process = subprocess.Popen(
            self.command(*arguments),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
            cwd=self.environment["HOME"],
        )
        with process:
            try:
                yield process
            finally:
                process.kill()

    @contextmanager
    def screen(self, *arguments: str) -> Iterator["Screen"]:
        """Run a command on a terminal of its own; it is ended with the block."""
        descriptor, terminal = pty.openpty()
        started = self._forks.start(arguments, self.environment, self.environment["HOME"], os.ttyname(terminal))
        os.close(terminal)
        running = Screen(started.process, descriptor, started.wait)
        try:
            yield running
        finally:
            running.close()

    @staticmethod
    def command(*arguments: str) -> list[str]:
        """The command line."""
        return [sys.executable, "-m", "parachute.cli", *arguments]


@contextmanager
def screen(command: list[str], environment: dict[str, str]) -> Iterator["Screen"]:
    """Run any program in the home of an environment, on a terminal of its own; it is ended with the block."""
    process, descriptor = pty.fork()
    if process == 0:
        # A shell starts its background jobs with this signal ignored, and the tests may be one of them.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.chdir(environment["HOME"])
        os.execve(command[0], command, environment)
    running = Screen(process, descriptor, lambda: os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
    try:
        yield running
    finally:
        running.close()


class Screen:
    """A person's side of a terminal."""

    def __init__(self, process: int, descriptor: int, wait: Callable[[], int]) -> None:
        self._process: int | None = process
        self._descriptor = descriptor
        self._wait = wait
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.seen = ""

    def type(self, text: str) -> None:
        """Press keys; `\\x03` is Ctrl-C and `\\x04` Ctrl-D."""
        os.write(self._descriptor, text.encode())

    def until(self, text: str) -> str:
        """Wait until the text is on the screen, and return all that came up to then."""
        deadline = time.monotonic() + DEADLINE
        while text not in self.seen:
            if not self._read(deadline):
                raise AssertionError(f"{text!r} did not come: {self.seen!r}")
        before, _, self.seen = self.seen.partition(text)
        return before + text

    def until_it_waits(self) -> None:
        """Wait until the command sleeps: CPython's input() loses a Ctrl-C that comes between its last echo and its wait."""
        deadline = time.monotonic() + DEADLINE
        while psutil.Process(self._process).status() != psutil.STATUS_SLEEPING:
            assert time.monotonic() < deadline, "the command never waits"
            os.sched_yield()

    def answer(self, answer: Callable[[str], str | None], seconds: float = DEADLINE) -> int:
        """Type what `answer` says to the screen since the last answer, until the command ends; return its exit code."""
        answered, deadline = 0, time.monotonic() + seconds
        while self._read(deadline):
            if (reply := answer(self.seen[answered:])) is not None:
                answered = len(self.seen)
                self.type(f"{reply}\r")
        return self.end()

    def end(self, pressing: str = "") -> int:
        """Wait until the command has ended, and return its exit code; `pressing` a key again and again as people do.

        CPython's input() loses a Ctrl-C that comes between the prompt and the wait behind it.
        """
        deadline = time.monotonic() + DEADLINE
        while self._has_more(deadline, pressing):
            pass
        assert self._process is not None
        self._process = None
        return self._wait()

    def _has_more(self, deadline: float, pressing: str) -> bool:
        while pressing and not select.select([self._descriptor], [], [], 0.5)[0] and time.monotonic() < deadline:
            self.type(pressing)
        return self._read(deadline)

    def close(self) -> None:
        """End the command if it still runs."""
        if self._process is not None:
            os.kill(self._process, signal.SIGKILL)
            self._process = None
            self._wait()
        os.close(self._descriptor)

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._descriptor], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise AssertionError(f"nothing more came: {self.seen!r}")
        try:
            data = os.read(self._descriptor, 65536)
        except OSError:
            return False  # on Linux, reading behind the end of the other side is an error
        self.seen += self._decoder.decode(data)
        return bool(data)
