"""The removal at the start of the server, when no other program of this computer has a file open."""

import asyncio
import logging
from pathlib import Path

from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.ops.forget import erasing, ordering
from parachute.supervisor import control

log = logging.getLogger(__name__)

_HARMLESS = frozenset(("core", "programs"))
"""Units that have no file of the vault or the state directory open while the server starts."""


async def finish(home: Home, vault: Path) -> None:
    """Do what was ordered. Where the server alone was killed, modules and agents go on: then everything is ended first, once."""
    try:
        order = await asyncio.to_thread(ordering.read_order, home.root)
        if order is None or order.phase != "files":
            return
        if not order.is_begun_anew and await _others_run(home):
            order.is_begun_anew = True
            await asyncio.to_thread(ordering.write_order, home.root, order)
            await control.ask(home, "begin_anew")
            return
    except (ParachuteError, OSError) as error:
        log.error("The words are not forgotten yet: %s", type(error).__name__)
        return
    await asyncio.to_thread(erasing.finish, home.root, vault, home.audit_seals)


async def _others_run(home: Home) -> bool:
    units = (await control.ask(home, "status"))["units"]
    return any(unit["process"] is not None and unit["name"] not in _HARMLESS for unit in units)
