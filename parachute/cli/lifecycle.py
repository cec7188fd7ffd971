"""Starting and ending the supervisor, which starts and ends everything else."""

import asyncio
import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import NoReturn

from parachute.base.errors import Conflict, ParachuteError, Unavailable
from parachute.base.files import locked
from parachute.cli.api import ask_supervisor
from parachute.cli.output import styled
from parachute.config.settings.home import Home
from parachute.ops.logs import files as log_files
from parachute.supervisor import control, pid_file
from parachute.supervisor.credentials import Credentials

_START_SECONDS = 60.0
_ENDING_SECONDS = 5.0
_STOP_SECONDS = 60.0
_POLL_SECONDS = 0.01
_SHOWN_LINES = 15


class NotStarted(ParachuteError):
    """The computer, or its API, did not come up; the hint ends with what it said last."""

    status = 503
    key = "not_started"


@contextlib.contextmanager
def one_at_a_time(home: Home) -> Iterator[None]:
    """Hold off other commands that start or end the computer until this one is through."""
    with locked(home.run / "lifecycle"):
        yield


def check_not_running(home: Home) -> None:
    """Error: Conflict if the computer runs, so that a service cannot take its place."""
    if pid_file.is_running(home):
        raise Conflict(
            "The computer is running already, but not as a service.",
            "`parachute stop` ends it; then try again.",
            key="already_running",
        )


def start(home: Home, host: str, port: int, environment: dict[str, str]) -> None:
    """Start the supervisor in the background and wait until core serves; error: NotStarted, and then nothing runs."""
    beginnings = _beginnings(home)
    pipe = Credentials.take().pipe()
    log = os.open(home.logs / "supervisor.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        process = subprocess.Popen(
            _command(host, port),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=(pipe,),
            env=_environment(home, environment, pipe),
            # It outlives the shell: it must not keep a folder busy, nor import what lies around in one.
            cwd="/",
        )
    finally:
        os.close(log)
        os.close(pipe)
    try:
        asyncio.run(_until_ready(home, process))
    except BaseException as error:
        process.terminate()
        process.wait()
        if not isinstance(error, ParachuteError):
            raise
        raise _not_started(home, error, beginnings) from error


def run_in_foreground(home: Home, host: str, port: int, environment: dict[str, str]) -> NoReturn:
    """Become the supervisor; a new program, because a process cannot take variables out of what others see of it."""
    pipe = Credentials.take().pipe()
    os.set_inheritable(pipe, True)
    os.chdir("/")
    sys.stdout.flush()
    sys.stderr.flush()
    command = _command(host, port)
    os.execve(command[0], command, _environment(home, environment, pipe))  # noqa: S606 -- no shell is the point


def stop(home: Home) -> list[str]:
    """End everything, wait until it is gone, and return the names of what ran; error: Unavailable if it does not end."""
    watched = _watch(pid_file.process(home))
    try:
        units = ask_supervisor(home, "status", 10)["units"]
        ask_supervisor(home, "shutdown", 10)
    except Unavailable:
        # It is on its way up or down, or stuck: the signal asks for the same.
        units = []
        if process := pid_file.process(home):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
    with _spinner("Stopping"):
        deadline = time.monotonic() + _STOP_SECONDS
        if watched is not None:
            # The lock is free a moment before the process is gone.
            select.select([watched], [], [], _STOP_SECONDS)
            os.close(watched)
        while pid_file.is_running(home):
            if time.monotonic() > deadline:
                raise Unavailable(
                    f"The supervisor (process {pid_file.process(home)}) did not end within {_STOP_SECONDS:.0f} seconds.",
                    f"`kill -9 {pid_file.process(home)}` ends it at once; `parachute logs` shows its output.",
                    key="supervisor_not_ended",
                )
            time.sleep(_POLL_SECONDS)
    return [unit["name"] for unit in units if unit["process"] is not None]


def wait_until_ready(home: Home) -> None:
    """Wait until core serves under a supervisor that somebody else starts; error: NotStarted."""
    beginnings = _beginnings(home)
    try:
        asyncio.run(_until_ready(home))
    except ParachuteError as error:
        raise _not_started(home, error, beginnings) from error


async def _until_ready(home: Home, process: subprocess.Popen[bytes] | None = None) -> None:
    deadline = time.monotonic() + _START_SECONDS
    with _spinner("Starting"):
        while (process is None or process.poll() is None) and time.monotonic() < deadline:
            try:
                # Core is being started already: this waits until it serves, or has failed.
                await control.ask(home, "start", _START_SECONDS + 5)
            except Unavailable as error:
                # One that ends does so in the middle of an answer, and its log says why a moment later.
                if (
                    error.key in ("supervisor_silent", "supervisor_ended")
                    and process is not None
                    and await _ends(process)
                ):
                    break
                if error.key != "not_running":
                    raise
                await asyncio.sleep(_POLL_SECONDS)
            else:
                return
    if process is not None and process.poll() is not None:
        raise Unavailable("The supervisor has ended.", key="supervisor_ended")
    raise Unavailable(f"The supervisor did not answer within {_START_SECONDS:.0f} seconds.", key="supervisor_silent")


async def _ends(process: subprocess.Popen[bytes]) -> bool:
    """Wait a moment for the end of a process; returns whether it has ended."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        await asyncio.to_thread(process.wait, _ENDING_SECONDS)
    return process.poll() is not None


def _beginnings(home: Home) -> dict[str, int]:
    """Return the present ends of the logs, where new lines begin."""
    return {name: log_files.size(home.logs / f"{name}.log") for name in ("supervisor", "core")}


def _not_started(home: Home, error: ParachuteError, beginnings: dict[str, int]) -> NotStarted:
    said = {name: log_files.tail(home.logs / f"{name}.log", _SHOWN_LINES, beginnings[name]) for name in beginnings}
    lines = [line for name in said for line in (f"{home.logs / name}.log says:", *said[name]) if said[name]]
    return NotStarted(f"The computer did not start: {error.message}", "\n".join(lines) or error.hint)


def _command(host: str, port: int) -> list[str]:
    return [sys.executable, "-m", "parachute.supervisor", "--host", host, "--port", str(port)]


def _environment(home: Home, environment: dict[str, str], pipe: int) -> dict[str, str]:
    # Everything is absolute by now, since the folder changes.
    own = {"PARACHUTE_HOME": str(home.root), "PARACHUTE_CREDENTIALS_FD": str(pipe)}
    return {**os.environ, **environment, **own}


def _watch(process: int | None) -> int | None:
    """A descriptor that becomes readable when the process has ended; only Linux has these."""
    if process is None or sys.platform != "linux":
        return None
    try:
        return os.pidfd_open(process)
    except OSError:
        return None


@contextlib.contextmanager
def _spinner(text: str) -> Iterator[None]:
    """Show on a terminal that something goes on."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()

    def spin() -> None:
        frame = 0
        while not done.wait(0.1):
            frame += 1
            sys.stderr.write("\r" + styled(f"{'|/-' + chr(92)}"[frame % 4] + f" {text} ...", "2", sys.stderr))
            sys.stderr.flush()
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
