"""restic as a child that ends with us: its output is bounded, and no secret is on its command line."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import IO

from parachute.backup import failures
from parachute.backup.access import Access, check_password
from parachute.backup.models import BackupFailed
from parachute.backup.noted import Noted
from parachute.backup.places import Places
from parachute.errors import Unavailable
from parachute.files import private_folder

_NOT_FOUND, _KILLED = 127, 128
_KEPT = 64 * 1024
_LARGEST = 1 << 62
_END_SECONDS = 10
_ANSWER = 64 << 20
_AGAIN, _SHOWN = "retrying after", 200
_PASSED = (
    *("PATH", "HOME", "TMPDIR", "SSH_AUTH_SOCK"),
    *(
        "http_proxy",
        "https_proxy",
        "no_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
    ),
)


class Running:
    """A restic at work; `output` is what it writes on standard output, `told` hears when it tries something again."""

    def __init__(self, process: "subprocess.Popen[bytes]", told: Callable[[str], None]) -> None:
        self._told = told
        self._process = process
        assert process.stdout is not None
        self.output: IO[bytes] = process.stdout
        self._was_ended = False
        self._errors = b""
        # Both at once: a child whose other pipe is full would wait for ever.
        self._reader = threading.Thread(target=self._read, name="restic's errors", daemon=True)
        self._reader.start()

    def wait(self) -> tuple[int, str]:
        """Wait for its end; the exit code, and the last 64 KiB of what it wrote on standard error."""
        while self.output.read(_KEPT):
            pass
        code = self._process.wait()
        self._reader.join()
        return code, self._errors.decode(errors="replace")

    @property
    def ended_by_itself(self) -> bool:
        """Whether restic came to an end in which it removes its lock; call it when it has ended."""
        return not self._was_ended and 0 <= self._process.returncode < _KILLED

    def stop(self) -> None:
        """Ask it to end, and what it has started itself; what waits for its output then gets the end of it."""
        self._was_ended = True
        self._process.terminate()

    def end(self) -> None:
        """End it, and what it has started itself, if it still runs."""
        if self._process.poll() is None:
            self.stop()
            try:
                self._process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        self._reader.join()
        self.output.close()
        assert self._process.stderr is not None
        self._process.stderr.close()

    def _read(self) -> None:
        assert self._process.stderr is not None
        while data := os.read(self._process.stderr.fileno(), 65536):
            self._errors = (self._errors + data)[-_KEPT:]
            for line in data.decode(errors="replace").splitlines():
                if _AGAIN in line:
                    self._told(f"restic tries again: {line.strip()[:_SHOWN]}")


class Restic:
    """The program with one repository."""

    def __init__(self, places: Places, access: Access, patience: float = 90.0) -> None:
        self._cache = places.cache
        self._patience = patience
        self.access = access
        self.noted = Noted(places.processes)

    @contextlib.contextmanager
    def started(self, *arguments: str, told: Callable[[str], None] = lambda line: None) -> Iterator[Running]:
        """Start it; when the block ends, however, it has ended too. Errors: NotSetUp, InvalidInput for the password."""
        check_password(self.access)
        # It ends everything below it when we end, also by kill -9: ssh and rclone are restic's own children.
        child = [sys.executable, "-I", "-m", "parachute.modules.child", str(os.getpid()), str(_LARGEST)]
        # Where it takes a lock.
        note = None if "--no-lock" in arguments else self.noted.new()
        noting = [sys.executable, "-I", "-m", "parachute.backup.noted", str(note)] if note else []
        process = subprocess.Popen(
            [*child, *noting, "restic", *arguments],
            env=self._environment(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Ctrl-C of our terminal reaches us alone.
            start_new_session=True,
        )
        running = Running(process, told)
        try:
            yield running
        finally:
            running.end()
            if note and running.ended_by_itself:
                note.unlink(missing_ok=True)

    def run(self, *arguments: str, doing: str) -> None:
        """Run it to its end; errors: those of `failure`."""
        with self.started(*arguments) as running:
            self.check(*running.wait(), doing=doing)

    def ask(self, *arguments: str, doing: str) -> bytes:
        """Run what takes moments where the repository answers: restic itself would try for a quarter of an hour.

        Errors: those of `run`, BackupFailed if it has not answered within `patience` seconds.
        """
        with self.started(*arguments) as running:
            is_late = threading.Event()

            def give_up() -> None:
                is_late.set()
                running.stop()

            waiting = threading.Timer(self._patience, give_up)
            waiting.start()
            try:
                data = running.output.read(_ANSWER)
                code, said = running.wait()
            finally:
                waiting.cancel()
            if is_late.is_set():
                late = f"The repository {self.access.shown} did not answer within {self._patience:.0f} seconds"
                last = said.strip().splitlines()[-1:]
                raise BackupFailed(f"{': '.join([late, *last])[:500]}.", "Is the network up, and the other side on?")
            self.check(code, said, doing=doing)
            return data

    def check(self, code: int, said: str, *, doing: str, allowed: tuple[int, ...] = ()) -> None:
        """Raise what an exit code means; errors: Unavailable if restic is not installed, those of `failure`."""
        if code == _NOT_FOUND and not said:
            raise Unavailable(
                "The program restic is not installed.", "Install it: sudo apt-get install restic", key="restic_missing"
            )
        if code and code not in allowed:
            raise failures.failure(self.access, doing, code, said)

    def _environment(self) -> dict[str, str]:
        ours = {
            "RESTIC_REPOSITORY": self.access.repository,
            "RESTIC_PASSWORD_FILE": str(self.access.password_file),
            "RESTIC_CACHE_DIR": str(private_folder(self._cache)),
            "RESTIC_PROGRESS_FPS": "4",
            "LANG": "C.UTF-8",
        }
        passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
        return {**passed, **self.access.variables, **ours}
