"""`python -m parachute.ops.updates [SOURCE | --back]`: one update, in a process of its own; the supervisor starts it."""

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from parachute.base.errors import Conflict, InvalidInput, ParachuteError
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.settings.store import load
from parachute.ops.rehearsal.models import Check, Rehearsal
from parachute.ops.rehearsal.service import rehearse
from parachute.ops.updates.models import Version
from parachute.ops.updates.service import Updates
from parachute.ops.updates.versions import running

log = logging.getLogger(__name__)


def main() -> int:
    """Run to an end, good or bad, and write it down; 1 if it could not begin."""
    parser = argparse.ArgumentParser(prog="parachute-update")
    parser.add_argument("source", nargs="?", type=Path)
    parser.add_argument("--back", action="store_true")
    parser.add_argument("--unrehearsed", action="store_true")
    parser.add_argument(
        "--ordered", default="", help="when, so that one that was killed and is started anew knows its own end"
    )
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    home = Home.named()
    try:
        settings = load(home)
        return asyncio.run(_run(home, settings, options))
    except ParachuteError as error:
        log.error("%s %s", error.message, error.hint or "")
        return 1
    except OSError as error:
        log.error("What becomes of it cannot be written down: %s", error)
        return 1


async def _run(home: Home, settings: Settings, options: argparse.Namespace) -> int:
    async def rehearse_(new: Version, report: Callable[[Check], None]) -> Rehearsal:
        return await rehearse(home, new.python, report)

    probation = settings.updates.probation_minutes * 60
    updates = Updates(
        home,
        settings.vault,
        rehearse_,
        probation,
        unrehearsed=options.unrehearsed,
        ordered=options.ordered,
        projects=settings.project_folders,
        is_named=options.source is not None,
    )
    if options.back:
        task = asyncio.ensure_future(updates.go_back())
    else:
        task = asyncio.ensure_future(updates.run(options.source or source_of(settings)))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: updates.can_be_cancelled and task.cancel())
    try:
        update = await task
    except asyncio.CancelledError:
        return 0
    log.info("%s", update.phase)
    # An end is an end: systemd starts anew who was killed, not who has refused.
    return 0


def source_of(settings: Settings) -> Path:
    """Return the source of new versions; error: Conflict if none is known."""
    named = settings.updates.source or (Path(running().source) if running().source else None)
    if named is None:
        raise Conflict(
            "The source of updates is unknown.",
            "Name a clone of the repository or a wheel: `parachute update --from PATH`, or `parachute config set updates.source PATH`.",
            key="no_source",
        )
    if not named.is_absolute():
        raise InvalidInput("updates.source: expected a path from / on.", key="source_not_absolute")
    return named


if __name__ == "__main__":
    sys.exit(main())
