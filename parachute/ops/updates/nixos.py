"""`python -m parachute.ops.updates.nixos`: an update that root's `parachute-update` has begun; it switches when we ask it to."""

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from parachute.base.errors import Conflict, ParachuteError
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.settings.store import load
from parachute.ops.rehearsal.models import Check, Rehearsal
from parachute.ops.rehearsal.service import rehearse
from parachute.ops.updates.journal import Journal
from parachute.ops.updates.models import IN_PLACE, Phase, Update, Version
from parachute.ops.updates.service import Rehearse, Updates
from parachute.ops.updates.state import State
from parachute.ops.updates.system import System

log = logging.getLogger(__name__)

_GOOD, _REFUSED = 0, 1


def main() -> int:
    """Run to an end; 0 if it is as root wanted it, 1 if it was refused or came back. Anything else is started anew."""
    parser = argparse.ArgumentParser(prog="parachute-update")
    parser.add_argument("--back", action="store_true")
    parser.add_argument("--unrehearsed", action="store_true")
    parser.add_argument("--system", help="the system that is updated to")
    parser.add_argument("--python", type=Path, help="its Python for this program")
    options = parser.parse_args()
    # What we say on our output root takes for a wish.
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    home = Home.named()
    try:
        update = asyncio.run(_run(home, load(home), options))
    except ParachuteError as error:
        log.error("%s %s", error.message, error.hint or "")
        return _REFUSED
    except asyncio.CancelledError:
        return _REFUSED
    return _GOOD if update.phase is (Phase.BACK if options.back else Phase.DONE) else _REFUSED


async def _run(home: Home, settings: Settings, options: argparse.Namespace) -> Update:
    place = System(home, State(Journal(home.root).folder, home.root, settings.vault / ".parachute"))
    rehearse_ = _rehearsing(home, Path(options.system) / "etc/parachute/declared.json" if options.system else None)
    probation = settings.updates.probation_minutes * 60
    updates = Updates(home, settings.vault, rehearse_, probation, unrehearsed=options.unrehearsed, place=place)
    task = asyncio.ensure_future(updates.go_back() if options.back else updates.run(_wanted(home, options)))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: updates.can_be_cancelled and task.cancel())
    return await task


def _rehearsing(home: Home, declared: Path | None) -> Rehearse:
    async def rehearsed(new: Version, report: Callable[[Check], None]) -> Rehearsal:
        return await rehearse(home, new.python, report, declared)

    return rehearsed


def _wanted(home: Home, options: argparse.Namespace) -> Version:
    """The version that root has named, or the one that is to be taken up. Error: Conflict."""
    update = Journal(home.root).read()
    under_way = update.new if update is not None and update.phase in IN_PLACE else None
    if not options.system:
        if under_way is None:
            raise Conflict(
                "No interrupted update.", "`parachute-update FLAKE#HOST` begins one.", key="no_interrupted_update"
            )
        return under_way
    system = Path(options.system)
    new = Version(system.name[:8], options.python.parent.parent, options.system)
    if under_way is not None and under_way.source != new.source:
        raise Conflict(
            "Another update is installed and still on probation.", "`parachute-update` resumes it.", key="other_update"
        )
    if under_way is None and new.prefix == Path(sys.prefix):
        raise Conflict(
            "That system already has the running version.",
            "`nixos-rebuild switch` for the rest of it.",
            key="up_to_date",
        )
    return new


if __name__ == "__main__":
    sys.exit(main())
