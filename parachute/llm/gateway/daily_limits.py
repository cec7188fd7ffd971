"""Limits of a day for all together, read again when config.yaml changes: whoever raises one that is reached waits for it."""

import logging
import os

from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.settings.store import load
from parachute.llm.gateway.models import Payer

log = logging.getLogger(__name__)


class DailyLimits:
    """The limits of `settings` until config.yaml changes, then those of the file; one with a mistake in it changes nothing."""

    def __init__(self, home: Home, settings: Settings) -> None:
        self._home = home
        self._settings = settings
        self._signature = self._signed()

    def of(self, payer: Payer) -> float | None:
        """Return the limit of a payer, None where it has none."""
        if (signature := self._signed()) != self._signature:
            self._signature = signature
            try:
                self._settings = load(self._home)
            except (ParachuteError, OSError) as error:
                log.warning("The limits of a day stay as they are: %s", error)
        settings = self._settings
        return {Payer.KEY: settings.daily_spending_limit, Payer.SUBSCRIPTION: settings.daily_token_limit}.get(payer)

    def _signed(self) -> tuple[int, ...] | None:
        try:
            status = os.stat(self._home.config)  # noqa: PTH116 - Path.stat is twice as slow, and each request asks
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size
