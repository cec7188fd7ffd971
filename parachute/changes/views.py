"""The view of a session: its place, and its handled paths."""

import contextlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, field

from parachute.base.signatures import Signature
from parachute.changes.folders_below import FoldersBelow
from parachute.changes.models import Held, State
from parachute.changes.scanning import Seen
from parachute.security.origin import Origin

_MARK = "user.parachute.view"


class Left(Struct, frozen=True):
    """State written at a path of the owner's; without a signature its content says whether it is still that."""

    state: State
    signature: Signature | None = None


class View(Struct):
    """Record of a view while the server runs; `number` is that of the set of changes, `began_ns` when its turn began."""

    session: str
    project: Path
    upper: Path
    number: int
    began_ns: int
    is_reviewed: bool
    parts: tuple[str, ...] = ("",)
    """The folders of the project that the agent sees; no others are looked at."""
    token: bytes = b""
    index: str | None = None
    """State of the owner's git index at the beginning of the turn: git writes it anew each time somebody asks for the status."""
    known: dict[str, Seen] = field(default_factory=dict)
    left: dict[str, Left] = field(default_factory=dict)
    waiting: dict[str, Held] = field(default_factory=dict)
    thrown: dict[str, State] = field(default_factory=dict)
    below: FoldersBelow = field(default_factory=FoldersBelow)
    is_outdated: bool = False
    """The kernel may go on showing what the owner has replaced or removed since."""
    has_ended: bool = False
    is_active: bool = True
    origin: Callable[[], Origin] = lambda: Origin.AGENT_FILE
    """The lowest origin of what has entered the run by now; of one whose end nobody saw, that of what agents write."""


def mark_of(upper: Path) -> bytes | None:
    """The mark of the upper layer of a view, None if it has none."""
    with contextlib.suppress(OSError):
        return os.getxattr(upper, _MARK)
    return None


def marked(upper: Path) -> bytes:
    """Mark the upper layer of a view, so that another one in its place is noticed."""
    mark = mark_of(upper) or secrets.token_bytes(16)
    # It is gone, or the disk knows no attributes: then nothing is known of it the next time.
    with contextlib.suppress(OSError):
        os.setxattr(upper, _MARK, mark)
    return mark
