"""The agent runner, a sandbox's first process: it accepts connections on its socket and gives each a keeper.

    runner.py [--single] [--idle-seconds N] [--processes N] [--folder PATH] [--mounted TEXT]... [--limits JSON]
              [--refuse-calls] -- PROGRAM [ARGUMENT...]

The listening socket is file descriptor 3, as systemd and Podman pass it. `--single`: a new connection ends the one before it,
unless all it asks for is an inspection.
`--processes`: how many processes and threads there may be at a time, ourselves included; only for a user namespace of our own.
`--folder`: made before anything else, for its owner only. `--mounted` and `--limits`: what `checks` has to find, or we end.
`--refuse-calls`: agents are refused the system calls that `calls` names.
"""

import contextlib
import json
import os
import resource
import select
import signal
import socket
import sys

if not __package__:  # started by path, with -IS, inside a sandbox that has no installed packages
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from parachute_runner import calls, checks, processes, protocol
from parachute_runner.keeper import Keeper

_LISTEN_FD = 3
_OUT_OF_MEMORY = 75  # how a keeper ends whose agent was ended for that
_UNPROTECTED = 76  # how we end when a mount has gone; `parachute.sandbox.engines.ended` knows it, too
_PASSED_ON = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR", "TERM", "XDG_RUNTIME_DIR"),
    # Where package managers keep what they load.
    *("CARGO_HOME", "GOPATH", "PIP_CACHE_DIR", "PIP_DISABLE_PIP_VERSION_CHECK", "PIP_RETRIES", "PYTHONUSERBASE"),
    *("UV_CACHE_DIR", "YARN_CACHE_FOLDER", "npm_config_cache", "npm_config_update_notifier"),
)


class Runner:
    """Accept connections until idle for long enough or ended by a signal."""

    def __init__(
        self, listener: socket.socket, program: list[str], *, single: bool, idle_seconds: float | None
    ) -> None:
        self._listener = listener
        self._program = program
        self._single = single
        self._idle_seconds = idle_seconds
        self._keepers: set[int] = set()
        self._silent: dict[int, socket.socket] = {}
        # As the first process of a PID namespace we inherit every orphan, and a keeper may end the namespace's processes.
        self._owns_namespace = os.getpid() == 1
        self._places = checks.mount_points() if self._owns_namespace else {}

    def serve(self) -> None:
        """Serve; returns when idle."""
        wake, wake_writer = os.pipe()
        for descriptor in (wake, wake_writer):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._stop)
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        poll.register(wake, select.POLLIN)
        mounts = os.open("/proc/self/mountinfo", os.O_RDONLY | os.O_CLOEXEC) if self._owns_namespace else None
        if mounts is not None:
            poll.register(mounts, select.POLLPRI)
        while True:
            idle = self._idle_seconds is not None and not self._keepers and not self._silent
            events = dict(poll.poll(self._idle_seconds * 1000 if idle and self._idle_seconds else None))
            if not events and idle:
                return
            if mounts in events:
                self._check_mounts()
            if wake in events:
                with contextlib.suppress(BlockingIOError):
                    os.read(wake, 4096)
                self._reap()
            if self._listener.fileno() in events:
                connection, _ = self._listener.accept()
                # Its first bytes say what it is for.
                self._silent[connection.fileno()] = connection
                poll.register(connection, select.POLLIN)
            for descriptor in events.keys() & self._silent.keys():
                poll.unregister(descriptor)
                with self._silent.pop(descriptor) as connection:
                    self._take(connection, has_gone=bool(events[descriptor] & select.POLLHUP))

    def _check_mounts(self) -> None:
        """End the sandbox if a file or folder that an agent must not write is not protected any more.

        Whoever replaces such a file outside, as `git config` and editors do, takes our mount away with it.
        """
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGSTOP)  # before the check, which takes longer than a write
        if gone := checks.unprotected(self._places):
            print(f"{gone} was replaced outside, so that it is not protected any more.", file=sys.stderr, flush=True)
            os._exit(_UNPROTECTED)
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGCONT)

    def _take(self, connection: socket.socket, *, has_gone: bool) -> None:
        beginning = _beginning(connection)
        if has_gone and not beginning:  # all it wanted was that the sandbox starts
            return
        is_inspection = beginning == protocol.INSPECTION
        if self._single and not is_inspection:
            self._end_all()
        try:
            self._keep(connection, is_inspection)
        except BlockingIOError:  # an agent has used up the processes: an inspection must not end it
            if not is_inspection:
                raise

    def _keep(self, connection: socket.socket, is_inspection: bool) -> None:
        process = os.fork()
        if process:
            self._keepers.add(process)
            return
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._listener.close()
            for other in self._silent.values():
                other.close()
            if is_inspection:
                from parachute_runner import inspection  # an agent's start does not wait for it

                inspection.answer(connection)
                status = 0
                return
            base = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
            keeper = Keeper(connection, self._program, base, self._owns_namespace)
            keeper.run()
            status = _OUT_OF_MEMORY if keeper.out_of_memory else 0
        finally:
            os._exit(status)

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0] != 0:
                process, ended = found
                if process in self._keepers and self._single and os.waitstatus_to_exitcode(ended) == _OUT_OF_MEMORY:
                    # What fills the memory may be files, which nobody would remove: the next connection gets a new sandbox.
                    self._stop()
                self._keepers.discard(process)
        # A keeper ends all it started; what comes to us was left by one that was killed.
        processes.kill_orphans(self._keepers)

    def _end_all(self) -> None:
        processes.end_all(self._owns_namespace)
        self._keepers.clear()

    def _stop(self, *_: object) -> None:
        self._end_all()
        os._exit(0)


class Options:
    """Options of the command line; argparse would take longer to load than everything else here."""

    def __init__(self, arguments: list[str]) -> None:
        self.single = self.refuse_calls = False
        self.idle_seconds: float | None = None
        self.processes: int | None = None
        self.folder: str | None = None
        self.mounted: list[str] = []
        self.limits: dict[str, float] = {}
        rest = iter(arguments)
        for name in rest:
            if name == "--":
                break
            if name == "--single":
                self.single = True
            elif name == "--refuse-calls":
                self.refuse_calls = True
            elif name == "--idle-seconds":
                self.idle_seconds = float(next(rest))
            elif name == "--processes":
                self.processes = int(next(rest))
            elif name == "--folder":
                self.folder = next(rest)
            elif name == "--mounted":
                self.mounted.append(next(rest))
            elif name == "--limits":
                self.limits = json.loads(next(rest))
            else:
                sys.exit(f"The runner does not know {name!r}.")
        self.program = list(rest)
        if not self.program:
            sys.exit("The runner needs the program that it runs, after `--`.")


def _beginning(connection: socket.socket) -> bytes:
    """The first bytes that came, which stay there; none from a peer that has gone without a word."""
    try:
        return connection.recv(len(protocol.INSPECTION), socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except OSError:
        return b""


def main() -> None:
    """Take the socket and serve."""
    options = Options(sys.argv[1:])
    if os.environ.get("LISTEN_FDS") != "1":
        sys.exit("The runner is started by its socket: LISTEN_FDS=1 and a listening socket as file descriptor 3.")
    processes.hide()
    # A folder of the machine that stayed open in here would be a way out, through its `..`.
    os.closerange(_LISTEN_FD + 1, os.sysconf("SC_OPEN_MAX"))
    if options.processes:
        resource.setrlimit(resource.RLIMIT_NPROC, (options.processes, options.processes))
    try:
        checks.mounted(options.mounted)
        checks.limited(options.limits)
        if options.refuse_calls:
            calls.refuse()
    except (checks.Differs, calls.Unfiltered) as error:
        sys.exit(f"This sandbox is not what was asked for: {error}.")
    if options.folder:
        os.makedirs(options.folder, mode=0o700, exist_ok=True)
    processes.adopt_orphans()
    listener = socket.socket(fileno=_LISTEN_FD)
    listener.set_inheritable(False)
    listener.setblocking(True)
    Runner(listener, options.program, single=options.single, idle_seconds=options.idle_seconds).serve()
    # Without the interpreter's tidying, which takes time in which the next connection would wait in vain.
    os._exit(0)


if __name__ == "__main__":
    main()
