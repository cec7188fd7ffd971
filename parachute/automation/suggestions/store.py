"""Suggestions and the log of their resolutions in SQLite; nothing of either is ever deleted."""

import json
import secrets
import sqlite3
from collections.abc import Sequence
from typing import Any

import aiosqlite
from msgspec.structs import replace

from parachute.automation.suggestions.models import (
    BATCH,
    PENDING_LIMIT,
    Decision,
    Proposal,
    Resolution,
    Source,
    Suggestion,
    TooMany,
    Version,
)
from parachute.automation.suggestions.payloads import json_of
from parachute.base.clock import now
from parachute.base.database import Database
from parachute.base.errors import Conflict
from parachute.security.origin import Origin, lowest

_COLUMNS = (
    *("id", "source_module", "source_agent", "source_session", "timestamp", "action", "target_module", "target_id"),
    *("title", "expected_version", "payload", "reasoning", "status", "resolved_by", "resolved_at", "modifications"),
    *("applied_at", "error", "result", "attempt", "trying", "batch", "before", "origin"),
)
_DOCUMENTS = ("expected_version", "payload", "modifications", "result", "before")
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM suggestions"  # noqa: S608 - names from above
_ERROR_LIMIT = 2000


def create_suggestions(connection: sqlite3.Connection) -> None:
    """Create the tables of suggestions and of all decisions about them."""
    connection.execute(
        "CREATE TABLE suggestions (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, source_module TEXT NOT NULL, "
        "source_agent TEXT NOT NULL, source_session TEXT, timestamp TEXT NOT NULL, action TEXT NOT NULL, "
        "target_module TEXT NOT NULL, target_id TEXT, title TEXT NOT NULL, expected_version TEXT, payload TEXT NOT NULL, "
        "reasoning TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'pending', resolved_by TEXT, resolved_at TEXT, "
        "modifications TEXT, applied_at TEXT, error TEXT, result TEXT, attempt INTEGER NOT NULL DEFAULT 0, trying TEXT, "
        "batch TEXT, told TEXT NOT NULL DEFAULT '') STRICT"
    )
    connection.execute("CREATE INDEX suggestions_pending ON suggestions (source_module) WHERE status = 'pending'")
    connection.execute("CREATE INDEX suggestions_untold ON suggestions (seq) WHERE told != status")
    connection.execute("CREATE INDEX suggestions_of_batch ON suggestions (batch) WHERE batch IS NOT NULL")
    connection.execute(
        "CREATE TABLE resolutions (seq INTEGER PRIMARY KEY, suggestion TEXT NOT NULL REFERENCES suggestions (id), "
        "timestamp TEXT NOT NULL, outcome TEXT NOT NULL, resolved_by TEXT NOT NULL, who TEXT NOT NULL, "
        "modifications TEXT, reason TEXT NOT NULL, error TEXT) STRICT"
    )
    connection.execute("CREATE INDEX resolutions_of_suggestion ON resolutions (suggestion)")


def add_before(connection: sqlite3.Connection) -> None:
    """Add what a change replaces."""
    connection.execute("ALTER TABLE suggestions ADD COLUMN before TEXT")


def add_origin(connection: sqlite3.Connection) -> None:
    """Add where it came from."""
    connection.execute("ALTER TABLE suggestions ADD COLUMN origin TEXT")


ALL = (create_suggestions, add_before, add_origin)


class SuggestionStore:
    """Rows; each method that writes is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self,
        source: Source,
        proposal: Proposal,
        version: Version | None,
        before: dict[str, Any] | None = None,
        *,
        origin: Origin,
    ) -> tuple[Suggestion, bool]:
        """Store a proposal: (row, whether it is new); what waits already in the same words is not stored twice.

        Of two the lower origin counts. Error: TooMany.
        """
        async with self._database.transaction() as connection:
            same = await _first(
                connection,
                f"{_SELECT} WHERE status = 'pending' AND source_module = ? AND source_agent = ? AND action = ? "
                "AND target_module = ? AND target_id IS ? AND payload = ? AND expected_version IS ?",
                (
                    *(source.module, source.name, proposal.action, proposal.target_module),
                    *(proposal.target_id, proposal.payload, _dumped(version)),
                ),
            )
            if same is not None:
                found = _suggestion(same)
                if found.origin is not None and origin.is_below(found.origin):
                    query = "UPDATE suggestions SET origin = ? WHERE id = ?"
                    await connection.execute(query, (origin.value, found.id))
                    found = replace(found, origin=origin)
                return found, False
            await _check_room(connection, source.module, source.most)
            made = Suggestion(
                id=_new_id(),
                source_module=source.module,
                source_agent=source.name,
                source_session=source.session,
                timestamp=now(),
                action=proposal.action,
                target_module=proposal.target_module,
                target_id=proposal.target_id,
                title=proposal.title,
                expected_version=version,
                payload=json.loads(proposal.payload),
                reasoning=proposal.reasoning,
                before=before,
                origin=origin,
            )
            await _insert(connection, made)
        return made, True

    async def restore(self, made: Suggestion) -> bool:
        """Store one that was made on another computer, and tell nobody of it; False where there is one of its id. Error: TooMany."""
        async with self._database.transaction() as connection:
            if await _first(connection, "SELECT 1 FROM suggestions WHERE id = ?", (made.id,)):
                return False
            if made.status == "pending":
                await _check_room(connection, made.source_module, PENDING_LIMIT)
            await _insert(connection, made)
            await connection.execute("UPDATE suggestions SET told = status WHERE id = ?", (made.id,))
        return True

    async def add_batch(self, title: str, identifiers: Sequence[str], who: str, session: str | None) -> Suggestion:
        """Make one entry of suggestions that wait; error: Conflict if one of them does not, or is in another entry."""
        batch = Suggestion(
            id=_new_id(),
            source_module="",
            source_agent=who,
            source_session=session,
            timestamp=now(),
            action=BATCH,
            target_module="",
            target_id=None,
            title=title,
            expected_version=None,
            payload={"ids": list(identifiers)},
            reasoning="",
        )
        async with self._database.transaction() as connection:
            await _check_room(connection, "", PENDING_LIMIT)
            await _insert(connection, batch)
            for identifier in identifiers:
                cursor = await connection.execute(
                    "UPDATE suggestions SET batch = ? WHERE id = ? AND status = 'pending' AND batch IS NULL AND action != ?",
                    (batch.id, identifier, BATCH),
                )
                if cursor.rowcount != 1:
                    raise Conflict(
                        f"ids: {identifier[:40]!r} does not wait, or is a part of another entry.",
                        key="member_not_waiting",
                    )
            # Of an entry nothing is known that is not known of its members: the lowest of them counts.
            async with connection.execute("SELECT origin FROM suggestions WHERE batch = ?", (batch.id,)) as cursor:
                origins = [Origin(row[0]) if row[0] else Origin.IMPORT for row in await cursor.fetchall()]
            query = "UPDATE suggestions SET origin = ? WHERE id = ?"
            await connection.execute(query, (lowest(*origins).value, batch.id))
        return batch

    async def get(self, identifier: str) -> Suggestion | None:
        """A row by its id, with its members if it is a batch."""
        row = await self._database.row(f"{_SELECT} WHERE id = ?", (identifier,))
        return None if row is None else await self._with_members(_suggestion(row))

    async def made_for(self, source_module: str, proposal: Proposal, day: str) -> Suggestion | None:
        """Return an earlier suggestion of a module or its agents about the same thing, in any state.

        That is a change of the target with the day in its reasoning, or a new thing of the same name for any day.
        """
        if proposal.action not in ("create", "update") or not (proposal.target_id or proposal.title):
            return None
        row = await self._database.row(
            f"{_SELECT} WHERE source_module = ? AND action = ? AND target_module = ? AND target_id IS ? "
            "AND CASE action WHEN 'create' THEN title = ? COLLATE NOCASE ELSE instr(reasoning, ?) END "
            "ORDER BY seq DESC LIMIT 1",
            (source_module, proposal.action, proposal.target_module, proposal.target_id, proposal.title, day),
        )
        return None if row is None else _suggestion(row)

    async def page(
        self, status: str | None, module: str | None, limit: int, offset: int
    ) -> tuple[list[Suggestion], int]:
        """(rows, how many there are), newest first; members of an entry that waits come inside of it.

        `module` is the target, or the target of a member.
        """
        where = (
            "(:status IS NULL OR status = :status) AND (:module IS NULL OR target_module = :module OR id IN "
            "(SELECT batch FROM suggestions WHERE target_module = :module)) AND NOT (status = 'pending' AND "
            "batch IS NOT NULL)"
        )
        values = {"status": status, "module": module, "limit": limit, "offset": offset}
        rows = await self._database.rows(
            f"{_SELECT} WHERE {where} ORDER BY seq DESC LIMIT :limit OFFSET :offset", values
        )
        count = await self._database.row(f"SELECT count(*) FROM suggestions WHERE {where}", values)  # noqa: S608
        assert count is not None
        # Of those that wait there are only so many; what was resolved may be long.
        found = [_suggestion(row) for row in rows]
        return [await self._with_members(each) if each.status == "pending" else each for each in found], count[0]

    async def waiting(self, limit: int) -> list[Suggestion]:
        """The newest rows that wait and are no entries, the oldest of them first; none that the user has taken back."""
        undone = "SELECT suggestion FROM resolutions WHERE outcome = 'undone'"
        rows = await self._database.rows(
            f"{_SELECT} WHERE status = 'pending' AND action != ? AND id NOT IN ({undone}) ORDER BY seq DESC LIMIT ?",
            (BATCH, limit),
        )
        return [_suggestion(row) for row in reversed(rows)]

    async def resolutions(self, identifier: str) -> list[Resolution]:
        """Everything that was decided about a suggestion, oldest first."""
        rows = await self._database.rows(
            "SELECT timestamp, outcome, resolved_by, who, modifications, reason, error FROM resolutions "
            "WHERE suggestion = ? ORDER BY seq LIMIT 1000",
            (identifier,),
        )
        return [
            Resolution(timestamp, outcome, by, who, _loaded(modifications), reason, error)
            for timestamp, outcome, by, who, modifications, reason, error in rows
        ]

    async def begin(self, identifier: str, decision: Decision) -> None:
        """A try begins; from here on nobody may believe that nothing was applied."""
        trying = json.dumps({"by": decision.by, "who": decision.who, "payload": decision.payload})
        await self._database.write("UPDATE suggestions SET trying = ?, error = NULL WHERE id = ?", (trying, identifier))

    async def failed(self, suggestion: Suggestion, decision: Decision, error: str) -> None:
        """A try has ended, and nothing was applied as far as the module knows; the next one has another number."""
        async with self._database.transaction() as connection:
            await connection.execute(
                "UPDATE suggestions SET trying = NULL, attempt = attempt + 1, error = ? WHERE id = ?",
                (error[:_ERROR_LIMIT], suggestion.id),
            )
            await _log(connection, suggestion.id, "failed", decision, error)

    async def note(self, identifier: str, error: str) -> None:
        """Keep a reason that people shall see; the rest stays."""
        await self._database.write("UPDATE suggestions SET error = ? WHERE id = ?", (error[:_ERROR_LIMIT], identifier))

    async def withdrawn(self, identifier: str) -> None:
        """A try of which nobody knew the end has not applied anything, and will not."""
        await self._database.write(
            "UPDATE suggestions SET trying = NULL, attempt = attempt + 1 WHERE id = ?", (identifier,)
        )

    async def resolve(self, suggestion: Suggestion, decision: Decision, result: Any, *, rejected: bool = False) -> None:
        """Record the end, and that of the entry whose last member this was."""
        outcome = "rejected" if rejected else decision.outcome
        moment = now()
        async with self._database.transaction() as connection:
            await connection.execute(
                "UPDATE suggestions SET status = ?, resolved_by = ?, resolved_at = ?, modifications = ?, applied_at = ?, "
                "result = ?, error = NULL, trying = NULL WHERE id = ?",
                (
                    *(outcome, decision.by, moment, decision.payload, None if rejected else moment),
                    *(None if rejected else json.dumps(result), suggestion.id),
                ),
            )
            await _log(connection, suggestion.id, outcome, decision, None)
            if suggestion.batch:
                cursor = await connection.execute(
                    "UPDATE suggestions SET resolved_by = 'user', resolved_at = ?1, error = NULL, status = CASE WHEN EXISTS "
                    "(SELECT 1 FROM suggestions WHERE batch = ?2 AND status != 'rejected') THEN 'approved' ELSE 'rejected' "
                    "END, applied_at = CASE WHEN EXISTS (SELECT 1 FROM suggestions WHERE batch = ?2 AND "
                    "status != 'rejected') THEN ?1 END WHERE id = ?2 AND NOT EXISTS "
                    "(SELECT 1 FROM suggestions WHERE batch = ?2 AND status = 'pending')",
                    (moment, suggestion.batch),
                )
                if cursor.rowcount:
                    by_user = Decision("user", decision.who, reason=decision.reason)
                    row = await _first(connection, f"{_SELECT} WHERE id = ?", (suggestion.batch,))
                    assert row is not None
                    await _log(connection, suggestion.batch, _suggestion(row).status, by_user, None)

    async def reopen(self, suggestion: Suggestion, decision: Decision, version: Version | None) -> None:
        """Record that a decision was taken back: it waits again, and so does the entry that it is a member of."""
        again = (
            "UPDATE suggestions SET status = 'pending', resolved_by = NULL, resolved_at = NULL, modifications = NULL, "
            "applied_at = NULL, result = NULL, error = NULL, trying = NULL WHERE id = ? AND status != 'pending'"
        )
        async with self._database.transaction() as connection:
            await connection.execute(again, (suggestion.id,))
            # The next try has another number, and is made of what is there now.
            await connection.execute(
                "UPDATE suggestions SET attempt = attempt + 1, expected_version = ? WHERE id = ?",
                (_dumped(version), suggestion.id),
            )
            await _log(connection, suggestion.id, "undone", decision, None)
            if suggestion.batch and (await connection.execute(again, (suggestion.batch,))).rowcount:
                await _log(connection, suggestion.batch, "undone", decision, None)

    async def unpublished(self) -> list[Suggestion]:
        """Suggestions whose last change was not published."""
        rows = await self._database.rows(f"{_SELECT} WHERE told != status ORDER BY seq LIMIT 1000")
        return [_suggestion(row) for row in rows]

    async def mark_published(self, suggestion: Suggestion) -> None:
        """Record that the change to this status was published."""
        await self._database.write("UPDATE suggestions SET told = ? WHERE id = ?", (suggestion.status, suggestion.id))

    async def _with_members(self, batch: Suggestion) -> Suggestion:
        if not batch.is_batch:
            return batch
        rows = await self._database.rows(f"{_SELECT} WHERE batch = ?", (batch.id,))
        order = {identifier: place for place, identifier in enumerate(batch.payload["ids"])}
        members = sorted(map(_suggestion, rows), key=lambda member: order.get(member.id, len(order)))
        return replace(batch, members=tuple(members))


async def _first(connection: aiosqlite.Connection, query: str, values: Sequence[Any]) -> sqlite3.Row | None:
    async with connection.execute(query, values) as cursor:
        return await cursor.fetchone()


async def _check_room(connection: aiosqlite.Connection, source: str, most: int) -> None:
    row = await _first(
        connection, "SELECT count(*) FROM suggestions WHERE status = 'pending' AND source_module = ?", (source,)
    )
    if row is not None and row[0] >= most:
        raise TooMany(
            f"{most} suggestions of {source or 'this kind'} wait for the user already.",
            "Answer some of them first.",
        )


async def _insert(connection: aiosqlite.Connection, made: Suggestion) -> None:
    values = {name: getattr(made, name) for name in _COLUMNS if name != "trying"}
    values |= {name: _dumped(values[name]) for name in _DOCUMENTS} | {"payload": json_of(made.payload)}
    names, places = ", ".join(values), ", ".join("?" * len(values))
    await connection.execute(f"INSERT INTO suggestions ({names}) VALUES ({places})", tuple(values.values()))  # noqa: S608


async def _log(
    connection: aiosqlite.Connection, identifier: str, outcome: str, decision: Decision, error: str | None
) -> None:
    await connection.execute(
        "INSERT INTO resolutions (suggestion, timestamp, outcome, resolved_by, who, modifications, reason, error) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(identifier, now(), outcome, decision.by, decision.who, decision.payload, decision.reason),
            None if error is None else error[:_ERROR_LIMIT],
        ),
    )


def _suggestion(row: sqlite3.Row) -> Suggestion:
    values = dict(zip(_COLUMNS, row, strict=True))
    values |= {name: _loaded(values[name]) for name in _DOCUMENTS}
    # An archive could bring another kind of JSON into what was decided.
    values |= {name: {} for name in ("payload", "modifications", "before") if not isinstance(values[name], dict | None)}
    values["origin"] = Origin(values["origin"]) if values["origin"] else None
    values["trying"] = Decision(**json.loads(values["trying"])) if values["trying"] else None
    return Suggestion(**values)


def _dumped(value: Any) -> str | None:
    return None if value is None else json.dumps(value)


def _loaded(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _new_id() -> str:
    # Short, since people type it; 48 bits, and the column is unique.
    return secrets.token_hex(6)
