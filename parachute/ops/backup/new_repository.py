"""A repository for backups that a device asks for: the setting and the repository, both or neither."""

import asyncio
import json

from parachute.config.settings.home import Home
from parachute.config.settings.store import load, set_value, unset_value
from parachute.ops.backup.access import find
from parachute.ops.backup.jobs import BackupJobs
from parachute.ops.backup.places import Places

_SETTING = "backup.repository"


async def make_repository(home: Home, jobs: BackupJobs, repository: str) -> None:
    """Have backups go there, and make the repository; if that fails they go where they went before.

    Errors: ConfigError, Declared, InvalidInput for a place that is none, Conflict, Unavailable with restic's own words.
    """
    async with jobs.new_repository:
        before = (await asyncio.to_thread(load, home)).backup.repository
        try:
            await asyncio.to_thread(_set, home, repository)
            await jobs.make_repository()
        except BaseException:
            # Also if nobody waits for it any more.
            await asyncio.shield(asyncio.to_thread(_put_back, home, before))
            raise


def _set(home: Home, repository: str) -> None:
    settings = set_value(home, _SETTING, json.dumps(repository))
    backup = settings.backup
    find(Places(home.root, settings.vault), backup.repository, backup.password_file, backup.environment_file)


def _put_back(home: Home, before: str | None) -> None:
    if before is None:
        unset_value(home, _SETTING)
    elif load(home).backup.repository != before:
        set_value(home, _SETTING, json.dumps(before))
