"""Joins a TCP port inside a sandbox with the mounted socket of the egress proxy: programs want a TCP address in HTTP_PROXY.

    egress_forward.py [--port N] [--git] SOCKET -- PROGRAM [ARGUMENT...]

The sandbox has a network namespace of its own, so the port is nobody else's. The program starts when the port listens, in
this very process; the forwarder is its child and ends with it. `--git`: git takes the proxy's own service for all remotes. A Python program may use `Forwarder` in a thread instead.
"""

import argparse
import os
import selectors
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress

if not __package__:  # started by path, with -IS, inside a sandbox that has no installed packages
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from parachute_runner import processes

PORT = 3128
_GIT = "http://git.parachute.internal/"
_REMOTES = (("", "https://"), ("ssh@", "ssh://git@"), ("git@", "git@"))
_CHUNK = 65536
_CONNECTIONS = 64


def git_environment() -> Mapping[str, str]:
    """The variables by which git finds repositories at the proxy's service, and asks nobody for a password."""
    found = {"GIT_CONFIG_COUNT": str(len(_REMOTES)), "GIT_TERMINAL_PROMPT": "0"}
    for number, (path, remote) in enumerate(_REMOTES):
        found[f"GIT_CONFIG_KEY_{number}"] = f"url.{_GIT}{path}.insteadOf"
        found[f"GIT_CONFIG_VALUE_{number}"] = remote
    return found


class Forwarder:
    """Listens on 127.0.0.1 from its making on, and relays each connection once `serve` runs; error: OSError."""

    def __init__(self, path: str, port: int = PORT) -> None:
        self._path = path
        self._listener = socket.create_server(("127.0.0.1", port), backlog=_CONNECTIONS)
        self._listener.setblocking(False)
        self.port = int(self._listener.getsockname()[1])
        self._wake, self._waker = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._wake, selectors.EVENT_READ)
        self._open = 0
        self._accepts = False

    def environment(self) -> Mapping[str, str]:
        """The variables through which programs find the proxy; in both spellings, since programs differ."""
        url = f"http://127.0.0.1:{self.port}"
        names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
        return {
            **dict.fromkeys(names, url),
            "NODE_USE_ENV_PROXY": "1",  # else Node's own `fetch` goes without, where it knows this (22.21 and 24 on)
            "NO_PROXY": "localhost,127.0.0.1,::1",
            "no_proxy": "localhost,127.0.0.1,::1",
        }

    def serve(self) -> None:
        """Relay until `close` is called."""
        try:
            while True:
                self._accept_if_room()
                for key, mask in self._selector.select():
                    if key.fileobj is self._wake:
                        return
                    if key.fileobj is self._listener:
                        self._accept()
                    else:
                        self._move(key.data, mask)
        finally:
            for key in list(self._selector.get_map().values()):
                if isinstance(key.data, _End):
                    key.data.pair.close()
            self._selector.close()
            for each in (self._listener, self._wake):
                each.close()

    def close(self) -> None:
        """Make `serve` return, from any thread."""
        with suppress(OSError):
            self._waker.send(b".")
        self._waker.close()

    def descriptors(self) -> set[int]:
        """The file descriptors that `serve` needs."""
        own = {self._listener.fileno(), self._wake.fileno(), self._waker.fileno()}
        selector = getattr(self._selector, "fileno", None)
        return own | {selector()} if selector else own

    def _accept_if_room(self) -> None:
        has_room = self._open < _CONNECTIONS
        if has_room and not self._accepts:
            self._selector.register(self._listener, selectors.EVENT_READ)
        elif not has_room and self._accepts:
            self._selector.unregister(self._listener)  # who comes now waits in the kernel's queue
        self._accepts = has_room

    def _accept(self) -> None:
        try:
            inside, _ = self._listener.accept()
        except OSError:  # the client has left the queue again
            return
        outside = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        inside.setblocking(False)
        outside.setblocking(False)
        try:
            # On a Unix socket this is done at once; with a full queue it fails, as a busy server would.
            outside.connect(self._path)
        except OSError:
            inside.close()
            outside.close()
            return
        self._open += 1
        pair = _Pair(inside, outside)
        for end in pair.ends:
            self._selector.register(end.socket, selectors.EVENT_READ, end)

    def _move(self, end: "_End", mask: int) -> None:
        pair = end.pair
        if pair.is_closed:  # by the other end, in this same round
            return
        try:
            if mask & selectors.EVENT_READ:
                end.read()
            if mask & selectors.EVENT_WRITE:
                end.other.write()
        except OSError:
            pair.is_broken = True
        for each in pair.ends:
            self._watch(each, 0 if pair.is_broken or pair.is_done else each.interest())
        if pair.is_broken or pair.is_done:
            pair.close()
            self._open -= 1

    def _watch(self, end: "_End", interest: int) -> None:
        watched = end.socket in self._selector.get_map()
        if interest and watched:
            self._selector.modify(end.socket, interest, end)
        elif interest:
            self._selector.register(end.socket, interest, end)
        elif watched:
            self._selector.unregister(end.socket)


class _End:
    """One socket of a pair, with what was read from it and is not written to the other yet: one chunk at most."""

    def __init__(self, pair: "_Pair", own: socket.socket) -> None:
        self.pair = pair
        self.socket = own
        self.other: _End = self
        self.pending = memoryview(b"")
        self.ended = False
        self.passed_on = False  # the end was passed on to the other socket

    def read(self) -> None:
        """Take a chunk, or notice the end; error: OSError."""
        if self.pending or self.ended:
            return
        with suppress(BlockingIOError):
            data = self.socket.recv(_CHUNK)
            self.pending, self.ended = memoryview(data), not data
            self.write()

    def write(self) -> None:
        """Pass on what there is; error: OSError."""
        with suppress(BlockingIOError):
            while self.pending:
                self.pending = self.pending[self.other.socket.send(self.pending) :]
        if self.ended and not self.passed_on:
            self.passed_on = True
            self.other.socket.shutdown(socket.SHUT_WR)

    def interest(self) -> int:
        """Events to wait for on this socket."""
        reads = selectors.EVENT_READ if not self.pending and not self.ended else 0
        return reads | (selectors.EVENT_WRITE if self.other.pending else 0)


class _Pair:
    """Two sockets that are joined."""

    def __init__(self, inside: socket.socket, outside: socket.socket) -> None:
        self.ends = (_End(self, inside), _End(self, outside))
        self.ends[0].other, self.ends[1].other = self.ends[1], self.ends[0]
        self.is_broken = False
        self.is_closed = False

    @property
    def is_done(self) -> bool:
        """True when both directions have ended and everything was passed on."""
        return all(end.passed_on for end in self.ends)

    def close(self) -> None:
        """Close both sockets."""
        self.is_closed = True
        for end in self.ends:
            end.socket.close()


def main() -> None:
    """Listen, fork the forwarder, and become the program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--git", action="store_true")
    parser.add_argument("socket")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    forwarder = Forwarder(options.socket, options.port)
    parent = os.getpid()
    if os.fork() == 0:
        _forward_only(forwarder, parent)
    os.environ.update(forwarder.environment())
    if options.git:
        os.environ.update(git_environment())
    # Every descriptor of the forwarder is closed by this: Python makes none that survives it.
    os.execvp(options.program[0], options.program)


def _forward_only(forwarder: Forwarder, parent: int) -> None:
    try:
        processes.end_with_parent(signal.SIGKILL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # The program's sockets and pipes must close when the program closes them.
        null = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(null, standard)
        before = 2
        for kept in (*sorted(forwarder.descriptors()), os.sysconf("SC_OPEN_MAX")):
            os.closerange(before + 1, kept)
            before = kept
        if os.getppid() == parent:  # else it ended before we could ask to end with it
            forwarder.serve()
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
