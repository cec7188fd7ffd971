"""Paths that Python opens, makes and renames, recorded for the length of a block."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[str, tuple[object, ...]], object]

_listeners: list[Listener] = []
_installed = False


@contextmanager
def audited(listener: Listener) -> Iterator[None]:
    """Call the listener with each audit event of this process; one hook serves all tests, since none can be removed."""
    global _installed
    if not _installed:
        _installed = True
        sys.addaudithook(_hear)
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    for listener in _listeners:
        listener(event, arguments)
