"""The numbered steps by which the sessions' database came to its present form."""

import sqlite3

from parachute.chat.sessions.endings import create_endings
from parachute.chat.sessions.models import para_id_of


def m0001_sessions(connection: sqlite3.Connection) -> None:
    """Sessions, and the words in them."""
    connection.execute(
        """CREATE TABLE sessions (
            id TEXT PRIMARY KEY, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, title TEXT,
            agent_path TEXT, agent_name TEXT, agent_type TEXT, message_count INTEGER NOT NULL,
            archived INTEGER NOT NULL, source TEXT NOT NULL, continued_from TEXT, original_id TEXT,
            working_directory TEXT, trust_level TEXT NOT NULL, effective_execution_mode TEXT,
            linked_bot_platform TEXT, linked_bot_chat_id TEXT, linked_bot_chat_type TEXT,
            workspace_id TEXT, model TEXT, metadata TEXT NOT NULL, summary TEXT NOT NULL) STRICT"""
    )
    connection.execute("CREATE INDEX sessions_by_time ON sessions (archived, updated_at DESC)")
    connection.execute("CREATE INDEX sessions_by_workspace ON sessions (workspace_id, updated_at DESC)")
    connection.execute(
        "CREATE VIRTUAL TABLE words USING fts5 "
        "(session UNINDEXED, kind UNINDEXED, body, tokenize = 'unicode61 remove_diacritics 2')"
    )
    # Rows of a full-text table cannot be found by another column without reading them all.
    connection.execute(
        """CREATE TABLE words_of_session (
            session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, word_row INTEGER NOT NULL,
            PRIMARY KEY (session, word_row)) STRICT, WITHOUT ROWID"""
    )


def m0002_marks(connection: sqlite3.Connection) -> None:
    """The progress of recurring work on all sessions."""
    connection.execute("CREATE TABLE marks (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID")
    connection.execute("CREATE INDEX sessions_by_update ON sessions (updated_at)")


def m0003_counts(connection: sqlite3.Connection) -> None:
    """The number of sessions, kept by the database itself: counting many takes long."""
    connection.execute("CREATE TABLE counts (archived INTEGER PRIMARY KEY, sessions INTEGER NOT NULL) STRICT")
    connection.execute(
        "INSERT INTO counts SELECT value, (SELECT count(*) FROM sessions WHERE archived = value) FROM json_each('[0, 1]')"
    )
    for event, column, change in (
        ("INSERT", "new", "+"),
        ("DELETE", "old", "-"),
        ("UPDATE OF archived", "old", "-"),
        ("UPDATE OF archived", "new", "+"),
    ):
        name = f"count_{event.partition(' ')[0].lower()}_{column}"
        connection.execute(
            f"CREATE TRIGGER {name} AFTER {event} ON sessions BEGIN "  # noqa: S608 - from the list above
            f"UPDATE counts SET sessions = sessions {change} 1 WHERE archived = {column}.archived; END"
        )


def m0004_prefixes(connection: sqlite3.Connection) -> None:
    """The beginnings of words in the index: without them every word that begins so is read to the end."""
    _index_anew(connection)


def m0005_fewer_pages(connection: sqlite3.Connection) -> None:
    """Nothing that is asked nowhere: where in a text a word stands, how long a text is, sessions of no workspace.

    Each turn writes a third less. An archived session is counted anew when it changes, and not at each update of its row.
    """
    _index_anew(connection)
    connection.execute("DROP INDEX sessions_by_workspace")
    connection.execute(
        "CREATE INDEX sessions_by_workspace ON sessions (workspace_id, updated_at DESC) WHERE workspace_id IS NOT NULL"
    )
    connection.execute("DROP TRIGGER count_update_old")
    connection.execute("DROP TRIGGER count_update_new")
    connection.execute(
        "CREATE TRIGGER count_update AFTER UPDATE OF archived ON sessions WHEN old.archived != new.archived BEGIN "
        "UPDATE counts SET sessions = sessions + iif(archived = new.archived, 1, -1); END"
    )


def m0006_para_ids(connection: sqlite3.Connection) -> None:
    """The para-id in the projection that lists are made of."""
    connection.create_function("para_id", 1, para_id_of, deterministic=True)
    connection.execute(
        "UPDATE sessions SET summary = json_set(summary, '$.paraId', para_id(id)) WHERE json_valid(summary)"
    )


def m0007_session_contexts(connection: sqlite3.Connection) -> None:
    """The places that were chosen as contexts of a session (spec 003, "Database Schema"), in the order of `position`."""
    connection.execute(
        "CREATE TABLE session_contexts (session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, "
        "folder_path TEXT NOT NULL, position INTEGER NOT NULL, added_at TEXT NOT NULL, "
        "PRIMARY KEY (session_id, folder_path)) STRICT, WITHOUT ROWID"
    )


def m0008_context_watches(connection: sqlite3.Connection) -> None:
    """Watches of contexts, with what they mean now (spec 003, "Database Schema"), and each file as it was taken in last.

    Reviews are what the curator has still to do; causes say of what it wrote which changes that goes back to.
    """
    connection.execute(
        "CREATE TABLE context_watches (id INTEGER PRIMARY KEY AUTOINCREMENT, watcher_path TEXT NOT NULL, "
        "watch_pattern TEXT NOT NULL, resolved_paths TEXT, problem TEXT, created_at TEXT NOT NULL, "
        "updated_at TEXT NOT NULL, UNIQUE (watcher_path, watch_pattern)) STRICT"
    )
    connection.execute("CREATE INDEX idx_context_watches_watcher ON context_watches (watcher_path)")
    connection.execute("CREATE INDEX idx_context_watches_pattern ON context_watches (watch_pattern)")
    connection.execute(
        "CREATE TABLE context_files (folder_path TEXT PRIMARY KEY, path TEXT NOT NULL, hash TEXT NOT NULL) "
        "STRICT, WITHOUT ROWID"
    )
    connection.execute(
        "CREATE TABLE context_reviews (watcher_path TEXT PRIMARY KEY, changed_paths TEXT NOT NULL, chain TEXT NOT NULL, "
        "queued_at TEXT NOT NULL, due_at TEXT NOT NULL, version INTEGER NOT NULL, attempts INTEGER NOT NULL, error TEXT) "
        "STRICT, WITHOUT ROWID"
    )
    connection.execute(
        "CREATE TABLE context_causes (id INTEGER PRIMARY KEY, path TEXT NOT NULL, hash TEXT NOT NULL, "
        "chain TEXT NOT NULL, UNIQUE (path, hash)) STRICT"
    )


def m0009_divided_words(connection: sqlite3.Connection) -> None:
    """Let the texts that are there be divided later, from the newest on: that of many takes long."""
    connection.execute("INSERT INTO marks SELECT 'divided', rowid + 1 FROM words ORDER BY rowid DESC LIMIT 1")


def m0010_pins(connection: sqlite3.Connection) -> None:
    """The conversations that somebody keeps on top of the list."""
    connection.execute("ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0")
    connection.execute("CREATE INDEX sessions_pinned ON sessions (updated_at DESC) WHERE pinned")
    connection.execute(
        "UPDATE sessions SET summary = json_set(summary, '$.pinned', json('false')) WHERE json_valid(summary)"
    )


def m0011_branches(connection: sqlite3.Connection) -> None:
    """The families of branches."""
    # SQLite calls json_extract in a schema unsafe, and a restored database is opened without trust in its schema.
    connection.execute(
        "CREATE INDEX sessions_branches ON sessions (updated_at DESC) WHERE instr(metadata, '\"branch\"') > 0"
    )


def _index_anew(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE words RENAME TO words_before")
    connection.execute(CREATE_WORDS)
    connection.execute(
        "INSERT INTO words (rowid, session, kind, body) SELECT rowid, session, kind, body FROM words_before"
    )
    connection.execute("DROP TABLE words_before")


CREATE_WORDS = (
    "CREATE VIRTUAL TABLE words USING fts5 (session UNINDEXED, kind UNINDEXED, body, "
    "tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3', detail = none, columnsize = 0)"
)


ALL = (
    m0001_sessions,
    m0002_marks,
    m0003_counts,
    m0004_prefixes,
    m0005_fewer_pages,
    create_endings,
    m0006_para_ids,
    m0007_session_contexts,
    m0008_context_watches,
    m0009_divided_words,
    m0010_pins,
    m0011_branches,
)


def create_session_trust(connection: sqlite3.Connection) -> None:
    """Approvals of sessions; in `~/.parachute/trust.db`, out of the vault's reach."""
    connection.execute(
        "CREATE TABLE session_trust (session TEXT PRIMARY KEY, level TEXT NOT NULL, approved_at TEXT NOT NULL, "
        "approved_by TEXT NOT NULL) STRICT, WITHOUT ROWID"
    )
    connection.execute(
        "CREATE TABLE session_grants (session TEXT NOT NULL, pattern TEXT NOT NULL, granted_at TEXT NOT NULL, "
        "PRIMARY KEY (session, pattern)) STRICT, WITHOUT ROWID"
    )


def create_session_owners(connection: sqlite3.Connection) -> None:
    """The module that made a session, and its agent; in `~/.parachute/trust.db`, out of the vault's reach."""
    connection.execute(
        "CREATE TABLE session_owners (session TEXT PRIMARY KEY, module TEXT NOT NULL, agent TEXT NOT NULL, "
        "made_at TEXT NOT NULL) STRICT, WITHOUT ROWID"
    )


def create_session_workspaces(connection: sqlite3.Connection) -> None:
    """The workspace of a session; in `~/.parachute/trust.db`, since leaving one may give a session more."""
    connection.execute(
        "CREATE TABLE session_workspaces (session TEXT PRIMARY KEY, workspace TEXT NOT NULL) STRICT, WITHOUT ROWID"
    )
    connection.execute("CREATE INDEX sessions_of_workspace ON session_workspaces (workspace)")


def create_session_permissions(connection: sqlite3.Connection) -> None:
    """Create the table of permissions left to a session; in `~/.parachute/trust.db`, since a session without a row has all."""
    connection.execute(
        "CREATE TABLE session_permissions (session TEXT PRIMARY KEY, permissions TEXT NOT NULL, set_at TEXT NOT NULL, "
        "set_by TEXT NOT NULL) STRICT, WITHOUT ROWID"
    )


def create_session_origins(connection: sqlite3.Connection) -> None:
    """The lowest origin of what a session has read; in `~/.parachute/trust.db`, since a higher one raises a right."""
    connection.execute(
        "CREATE TABLE session_origins (session TEXT PRIMARY KEY, origin TEXT NOT NULL) STRICT, WITHOUT ROWID"
    )


def create_session_places(connection: sqlite3.Connection) -> None:
    """The folder of a session, and the messenger from which it is; in `~/.parachute/trust.db`, since an agent writes to the one."""
    connection.execute(
        "CREATE TABLE session_places (session TEXT PRIMARY KEY, folder TEXT, outside TEXT) STRICT, WITHOUT ROWID"
    )


TRUST = (
    create_session_trust,
    create_session_owners,
    create_session_workspaces,
    create_session_permissions,
    create_session_origins,
    create_session_places,
)
