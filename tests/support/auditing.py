"""Paths that Python opens, makes and renames, recorded for the length of a block."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[str, tuple[object, ...]], object]

_listeners: list[tuple[Listener, int | None]] = []
"""Each with the thread whose events it hears, None for all."""
_installed = False


@contextmanager
def audited(listener: Listener, *, of_all_threads: bool = False) -> Iterator[None]:
    """Call the listener with each audit event of this thread: beside it run servers of other tests, which open files, too.

    One hook serves all tests, since none can be removed.
    """
    global _installed
    if not _installed:
        _installed = True
        sys.addaudithook(_hear)
    entry = listener, None if of_all_threads else threading.get_ident()
    _listeners.append(entry)
    try:
        yield
    finally:
        _listeners.remove(entry)


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    for listener, thread in _listeners:
        if thread in (None, threading.get_ident()):
            listener(event, arguments)
