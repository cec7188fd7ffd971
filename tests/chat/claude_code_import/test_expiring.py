"""Conversations that Claude Code deletes soon are named, and kept with one call."""

import os
import time

from parachute.chat.claude_code_import.retention import retention_days
from tests.chat.sessions.conftest import SessionStorage, storage

from .test_service import service
from .writing import talk, write

__all__ = ["storage"]

DAY = 24 * 60 * 60


def days_ago(days: float) -> int:
    return int(time.time() - days * DAY)


async def test_what_is_deleted_within_days_is_listed_and_kept(storage: SessionStorage) -> None:
    due = write(storage.claude, "/a", *talk("/a"), at=days_ago(31))
    soon = write(storage.claude, "/b", *talk("/b"), at=days_ago(24))
    write(storage.claude, "/a", *talk("/a"), at=days_ago(22))
    importer = service(storage)
    kept, found = await importer.expiring(7)
    assert kept == 30
    assert [(each.found.session, each.summary.project) for each in found] == [(due, "/a"), (soon, "/b")]
    assert [each.found.session for each in (await importer.expiring(0))[1]] == [due]
    assert await importer.keep(7, by_owner=True) == ([due, soon], [])
    assert (await importer.expiring(7))[1] == []
    for session in (due, soon):
        stored = await storage.service.get(session)
        assert (stored.source, stored.message_count) == ("claude-code", 2)
        assert (storage.service.transcripts.folder(session) / f"{session}.jsonl").exists()
    assert len(list(storage.claude.glob("projects/*/*.jsonl"))) == 3


async def test_what_cannot_be_copied_is_named_and_the_others_come(storage: SessionStorage) -> None:
    large = write(storage.claude, "/a", *talk("/a"), at=days_ago(40))
    (path,) = storage.claude.glob(f"projects/*/{large}.jsonl")
    with path.open("r+b") as file:
        file.truncate(300 * 1024 * 1024)
    small = write(storage.claude, "/b", *talk("/b"), at=days_ago(39))
    os.utime(path, (days_ago(40), days_ago(40)))
    kept, failed = await service(storage).keep(0, by_owner=True)
    assert kept == [small]
    assert [session for session, _ in failed] == [large]


def test_the_days_are_those_of_claude_code(storage: SessionStorage) -> None:
    for managed, own, days in (
        (None, None, 30),
        (None, "{}", 30),
        (None, "", 30),
        (None, '{"cleanupPeriodDays": 90}', 90),
        ('{"cleanupPeriodDays": 7}', '{"cleanupPeriodDays": 90}', 7),
        ("{}", '{"cleanupPeriodDays": 90}', 90),
        (None, '{"cleanupPeriodDays": 0}', None),
        (None, '{"cleanupPeriodDays": true}', None),
        (None, '{"cleanupPeriodDays": "90"}', None),
        (None, "{", None),
        ("[]", '{"cleanupPeriodDays": 90}', None),
    ):
        files = storage.claude.parent / "managed.json", storage.claude.parent / "settings.json"
        for path, content in zip(files, (managed, own), strict=True):
            path.unlink(missing_ok=True)
            if content is not None:
                path.write_text(content)
        assert retention_days(*files) == days


async def test_where_nothing_is_deleted_nothing_is_listed(storage: SessionStorage) -> None:
    write(storage.claude, "/a", *talk("/a"), at=days_ago(400))
    (storage.claude / "settings.json").write_text("{")
    assert await service(storage).expiring(7) == (None, [])
    (storage.claude / "settings.json").write_text('{"cleanupPeriodDays": 500}')
    assert await service(storage).expiring(7) == (500, [])
