"""Filling a computer with sessions before it starts."""

import asyncio
import json
import sqlite3
import uuid
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

from parachute.base.clock import as_text
from parachute.base.database import Database
from parachute.chat.sessions import migrations
from parachute.chat.sessions.models import Session
from parachute.config.vault.service import Vault

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def store_sessions(vault: Vault, count: int) -> None:
    """Write `count` sessions as a computer would have; one at a time through the service would take minutes."""
    vault.prepare()
    database = Database(vault.state / "sessions.db", migrations.ALL)
    asyncio.run(_create(database))
    rows = (
        {**asdict(session), "metadata": json.dumps(session.metadata), "summary": session.summary()}
        for session in _sessions(count)
    )
    connection = sqlite3.connect(database.path)
    # The table's own columns: a session also knows things that are not stored in it.
    names = [name for _, name, *_ in connection.execute("PRAGMA table_info(sessions)")]
    statement = f"INSERT INTO sessions ({', '.join(names)}) VALUES ({', '.join(':' + name for name in names)})"
    with connection:
        connection.executemany(statement, rows)
    connection.close()


async def _create(database: Database) -> None:
    await database.open()
    await database.close()


def _sessions(count: int) -> Iterator[Session]:
    for number in range(count):
        moment = as_text(_BEGIN + timedelta(minutes=3 * number))
        yield Session(
            id=str(uuid.UUID(int=number + (4 << 76))),
            created_at=moment,
            updated_at=moment,
            title=f"What I wanted to know about subject number {number}",
            message_count=2 + number % 40,
            archived=number % 20 == 19,
            working_directory=f"Projects/project-{number % 30}" if number % 3 == 0 else None,
            effective_execution_mode="sandboxed",
            model="claude-sonnet-5-5" if number % 4 == 0 else None,
            metadata={"bot_settings": {"response_mode": "all_messages"}} if number % 10 == 0 else {},
        )
