"""Checks everything that a computer has stored, and prints as JSON what is damaged: `soundness.py FOLDER...`.

Databases are checked by SQLite itself; files of YAML and JSON have to be whole. It counts both, so that nobody is content
with an empty folder.
"""

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import yaml


def main() -> None:
    """Print `{"databases", "documents", "damaged"}`: two numbers, and what is wrong by path."""
    found: dict[str, Any] = {"databases": 0, "documents": 0, "damaged": {}}
    for path in sorted(path for folder in sys.argv[1:] for path in Path(folder).rglob("*")):
        if path.is_symlink() or not path.is_file() or path.suffix not in _CHECKS:
            continue
        kind, check = _CHECKS[path.suffix]
        found[kind] += 1
        try:
            check(path)
        except (sqlite3.Error, yaml.YAMLError, ValueError) as error:
            found["damaged"][str(path)] = str(error)
    json.dump(found, sys.stdout)


def _database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        said = [row for (row,) in connection.execute("PRAGMA integrity_check")]
        said += [str(row) for row in connection.execute("PRAGMA foreign_key_check")]
    if said != ["ok"]:
        raise ValueError("; ".join(said))


def _yaml(path: Path) -> None:
    # An empty document is one as well, but none that the computer writes.
    if yaml.safe_load(path.read_text()) is None:
        raise ValueError("it is empty")


def _json(path: Path) -> None:
    json.loads(path.read_text())


_CHECKS = {
    ".db": ("databases", _database),
    ".yaml": ("documents", _yaml),
    ".json": ("documents", _json),
}

if __name__ == "__main__":
    main()
