"""A repository for backups that a device asks for: the settings, the credentials and the repository, all of them or none."""

import asyncio
import json
from collections.abc import Mapping

from parachute.config.settings.home import Home
from parachute.config.settings.store import load, set_value, unset_value
from parachute.ops.backup import credentials
from parachute.ops.backup.credentials import Typed
from parachute.ops.backup.jobs import BackupJobs
from parachute.ops.backup.kit.protection import access_of

_SETTING = "backup.repository"


async def make_repository(home: Home, jobs: BackupJobs, repository: str, variables: Mapping[str, str]) -> None:
    """Have backups go there, and make the repository; if that fails they go where they went before.

    Errors: ConfigError, Declared, InvalidInput for a place that is none, Conflict, Unavailable with restic's own words.
    """
    async with jobs.new_repository:
        before = (await asyncio.to_thread(load, home)).backup.repository
        typed = await asyncio.to_thread(credentials.write, home, variables) if variables else None
        try:
            await asyncio.to_thread(_set, home, repository, typed)
            await jobs.make_repository()
        except BaseException:
            # Also if nobody waits for it any more.
            await asyncio.shield(asyncio.to_thread(_put_back, home, before, typed))
            raise
        if typed is not None:
            await asyncio.to_thread(typed.keep)


def _set(home: Home, repository: str, typed: Typed | None) -> None:
    set_value(home, _SETTING, json.dumps(repository))
    if typed is not None:
        typed.use()
    access_of(home, load(home))


def _put_back(home: Home, before: str | None, typed: Typed | None) -> None:
    if typed is not None:
        typed.undo()
    if before is None:
        unset_value(home, _SETTING)
    elif load(home).backup.repository != before:
        set_value(home, _SETTING, json.dumps(before))
