"""Reviews that wait, and what the curator's own changes go back to, in the sessions' database: they survive whatever ends the server."""

import json
from collections.abc import Sequence

from parachute.automation.curator.models import Review, merged
from parachute.base.clock import now
from parachute.base.database import Database

_MOST_CAUSES = 500
_COLUMNS = "watcher_path, changed_paths, chain, queued_at, due_at, version, attempts, error"


class ReviewStore:
    """All reviews that wait, one for each watcher."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def waiting(self) -> Sequence[Review]:
        """Every review, the one that is due first at the beginning."""
        query = f"SELECT {_COLUMNS} FROM context_reviews ORDER BY due_at, watcher_path"  # noqa: S608 - names from above
        rows = await self._database.rows(query)
        return [_review(*row) for row in rows]

    async def queue(self, watcher: str, changed: Sequence[str], chain: Sequence[str], due_at: str) -> None:
        """Have a watcher reviewed; what waits for it already is one review with this, and as late as this.

        Of two chains what is in both counts: what one of them has not passed may still have to be reviewed.
        """
        moment = now()
        async with self._database.transaction() as connection:
            query = f"SELECT {_COLUMNS} FROM context_reviews WHERE watcher_path = ?"  # noqa: S608 - names from above
            for row in await connection.execute_fetchall(query, (watcher,)):
                known = _review(*row)
                changed = merged(known.changed, changed)
                chain = [each for each in known.chain if each in chain]
                await connection.execute(
                    "UPDATE context_reviews SET changed_paths = ?, chain = ?, due_at = ?, version = version + 1, "
                    "attempts = 0, error = NULL WHERE watcher_path = ?",
                    (json.dumps(changed), json.dumps(chain), due_at, watcher),
                )
                return
            await connection.execute(
                "INSERT INTO context_reviews VALUES (?, ?, ?, ?, ?, 0, 0, NULL)",
                (watcher, json.dumps(list(changed)), json.dumps(list(chain)), moment, due_at),
            )

    async def done(self, review: Review) -> None:
        """A review has ended; what has come since it began is reviewed next."""
        query = "DELETE FROM context_reviews WHERE watcher_path = ? AND version = ?"
        await self._database.write(query, (review.watcher, review.version))

    async def put_off(self, review: Review, due_at: str, error: str) -> None:
        """A review has failed, and is tried again at a time."""
        query = (
            "UPDATE context_reviews SET attempts = attempts + 1, error = ?, due_at = ? "
            "WHERE watcher_path = ? AND version = ?"
        )
        await self._database.write(query, (error, due_at, review.watcher, review.version))

    async def note_cause(self, path: str, digest: str, chain: Sequence[str]) -> None:
        """Remember from which changes it came that a file is about to say something."""
        async with self._database.transaction() as connection:
            await connection.execute(
                "INSERT OR REPLACE INTO context_causes (path, hash, chain) VALUES (?, ?, ?)",
                (path, digest, json.dumps(list(chain))),
            )
            await connection.execute(
                "DELETE FROM context_causes WHERE id <= (SELECT max(id) FROM context_causes) - ?", (_MOST_CAUSES,)
            )

    async def take_cause(self, path: str, digest: str) -> tuple[str, ...]:
        """The changes from which it came that a file says this; none where somebody else wrote it."""
        query = "SELECT chain FROM context_causes WHERE path = ? AND hash = ?"
        rows = await self._database.rows(query, (path, digest))
        return tuple(json.loads(rows[0][0])) if rows else ()


def _review(
    watcher: str,
    changed: str,
    chain: str,
    queued_at: str,
    due_at: str,
    version: int,
    attempts: int,
    error: str | None,
) -> Review:
    paths = tuple(json.loads(changed)), tuple(json.loads(chain))
    return Review(watcher, *paths, queued_at, due_at, version, attempts, error)
