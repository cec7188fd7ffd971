"""Synchronisation that goes on: after each change of a folder, and every few seconds for those of the computer."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from parachute.base.errors import ParachuteError, Unavailable
from parachute.cli.api import Refused
from parachute.cli.output import print_note
from parachute.files.device.service import Report

_POLL_SECONDS = 15
_LOOK_SECONDS = 600
_LONGEST_WAIT = 120


def follow(
    changes: Iterator[object],
    has_news: Callable[[], bool],
    run: Callable[[], Report],
    show: Callable[[Report, bool], None],
    elapsed: Callable[[], float] = time.monotonic,
) -> None:
    """Go on until somebody ends it; `show` is given each report, and whether it says what the last one did not.

    `changes` begins to listen when it is first asked, and gives what is empty after some seconds without a change. All of a folder is
    looked at where there is a reason, and else every ten minutes, for a change that the system did not tell.
    """
    is_away = is_listening = False
    must_look, looked, wait = True, 0.0, 0.0
    left: dict[str, str] | None = None
    while True:
        try:
            if must_look or has_news() or elapsed() > looked + _LOOK_SECONDS:
                looked = elapsed()
                report = run()
                show(report, report.left != left)
                left, must_look = report.left, report.is_unfinished
            if is_away:
                print_note("The computer answers again.")
            is_away, wait = False, 0.0
        except ParachuteError as error:
            if not _passes(error):
                raise
            if not is_away:
                print_note(f"{error.message} It is tried again; what you change here is kept until then.")
            is_away, must_look, wait = True, True, min(max(2 * wait, _POLL_SECONDS), _LONGEST_WAIT)
        until = elapsed() + wait
        must_look |= bool(next(changes))
        while elapsed() < until:
            must_look |= bool(next(changes))
        if not is_listening:
            # What was written during the first look was told to nobody.
            is_listening = must_look = True


def changes_of(folder: Path) -> Iterator[object]:
    """Return the changes of a folder as `follow` takes them; ends by Ctrl-C."""
    from watchfiles import watch

    return watch(
        folder,
        watch_filter=lambda _, path: not any(part.startswith(".") for part in Path(path).relative_to(folder).parts),
        rust_timeout=_POLL_SECONDS * 1000,
        yield_on_timeout=True,
    )


def _passes(error: ParachuteError) -> bool:
    """Return whether it may work again by itself."""
    return isinstance(error, Unavailable) or (isinstance(error, Refused) and error.status >= 500)
