"""Updates each night, where the owner has said so."""

import logging
from collections.abc import Sequence
from datetime import date

from parachute.base.clock import Clock
from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.events.scheduler.service import Job
from parachute.events.scheduler.times import TimeOfDay
from parachute.ops.updates.orders import Orders

log = logging.getLogger(__name__)


class Nightly:
    """Begins an update each night at a time; how it ends is written down as with any other."""

    def __init__(self, home: Home, time: str, clock: Clock) -> None:
        self._home = home
        self._at = TimeOfDay.parse(time)
        self._taken = clock.today()

    async def jobs(self) -> Sequence[Job]:
        """The job of the night."""
        return (Job("update", self._at, self._taken, self._run),)

    async def _run(self, day: date, again: bool) -> None:
        self._taken = day
        try:
            await Orders(self._home).begin()
        except ParachuteError as error:
            log.warning("There was no update tonight: %s", error.message)
