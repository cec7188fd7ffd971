"""Prints as JSON what a computer holds, so that two moments can be compared: `contents.py FOLDER...`.

Files by their digests, rows of databases by their values, and lines of what is only added to. Nothing of it is opened for writing.
"""

import hashlib
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

PASSING = {
    "run",
    "logs",
    "updates",
    "sandboxes",
    "caches",
    "views",
    "copies",
    "meaning",
    "documents",
    "__pycache__",
    "audit-seals.json",
    "audit-seals.open.json",
    "audit-approvals.json",
}
"""Names of what is made anew, of updates themselves, and of the end of the audit log and what it has seen so far, which grow."""


def main() -> None:
    """Print `{"files": {PATH: DIGEST}, "rows": {"DATABASE TABLE" or PATH: [ROW...]}}`."""
    files: dict[str, str] = {}
    rows: dict[str, list[str]] = {}
    for folder in map(Path, sys.argv[1:]):
        for path in sorted(folder.rglob("*")):
            if PASSING & set(path.relative_to(folder).parts) or path.suffix == ".lock":
                continue
            if path.is_symlink():
                files[str(path)] = f"-> {path.readlink()}"
            elif path.suffix == ".db":
                rows.update({f"{path} {table}": found for table, found in _tables(path).items()})
            elif path.suffix == ".jsonl":
                # A power cut leaves a part of a line at the end, which the next one takes the place of.
                rows[str(path)] = path.read_text().split("\n")[:-1]
            elif path.is_file() and not path.name.endswith((".db-wal", ".db-shm")):
                files[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    json.dump({"files": files, "rows": rows}, sys.stdout)


def _tables(database: Path) -> dict[str, list[str]]:
    with closing(sqlite3.connect(f"file:{quote(str(database))}?mode=ro", uri=True)) as connection:
        connection.text_factory = bytes
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '% VIRTUAL %'")
        return {name: sorted(map(repr, connection.execute(f'SELECT * FROM "{name}"'))) for name in _words(names)}


def _words(rows: sqlite3.Cursor) -> list[str]:
    return [name.decode() for (name,) in rows]


if __name__ == "__main__":
    main()
