"""Recovery of a server before it opens anything: if an update was cut off, or is taken back, its state is put back with the old version."""

import logging
import sqlite3
import sys
from pathlib import Path

from msgspec.structs import replace

from parachute.base.clock import now
from parachute.base.errors import ParachuteError, Unavailable
from parachute.config.settings.home import Home
from parachute.ops.updates.journal import Journal
from parachute.ops.updates.models import IN_PLACE, Phase, Update
from parachute.ops.updates.state import State
from parachute.ops.updates.versions import Versions

log = logging.getLogger(__name__)

_CUT_OFF = "The computer was stopped or restarted during the probation of the new version."


def finish(home: Home, vault: Path) -> None:
    """Put the state of this version back where a newer one has had it; error: Unavailable, and then nothing may be opened."""
    journal = Journal(home.root)
    try:
        update = journal.read()
    except ParachuteError as error:
        log.error("%s %s", error.message, error.hint)
        return
    if update is None or update.phase not in IN_PLACE or Path(sys.prefix) != update.old.prefix:
        return
    try:
        since = State(journal.folder, home.root, vault / ".parachute").put_back()
    except (OSError, sqlite3.Error) as error:
        raise Unavailable(
            f"An update is being taken back, and the state of before cannot be put back: {error}.",
            f"It is in {journal.folder / 'kept'}; make room on the disk, then `parachute start`.",
            key="state_not_put_back",
        ) from error
    try:
        _ended(home, journal, update, since)
    except OSError as error:  # a full disk; the next start notes it
        log.error("The end of the update cannot be saved: %s", error)


def _ended(home: Home, journal: Journal, update: Update, since: list[str]) -> None:
    for sentence in since:
        log.warning("%s", sentence)
    update = replace(update, since=(*update.since, *since))
    # Whoever takes it back writes down the end; where root does, it is root who ends it.
    if update.phase is Phase.RETURNING and (update.manager == "nixos" or journal.is_held()):
        journal.write(update)
        return
    versions = Versions(home)
    if update.manager != "nixos" and versions.current.is_symlink():
        versions.link(update.old)
    problem = update.problem if update.phase is Phase.RETURNING else _CUT_OFF
    log.warning("%s The version before is in place again.", problem or "The update was taken back.")
    journal.write(replace(update, phase=Phase.BACK, at=now(), problem=problem, until=None))
