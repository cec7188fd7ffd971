"""A backup in the layout of earlier versions, as `parachute backup create` of July 2026 wrote it: four snapshots, two manifests."""

import hashlib
import json
import os
import secrets
import shutil
import sqlite3
import stat
from pathlib import Path
from typing import Any

from .installation import Installation


def line(value: Any) -> bytes:
    """One line of a manifest."""
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


class OldBackup:
    """Backs both parts up; `moved` are the files of the vault that changed while restic read them."""

    def __init__(self, installation: Installation, moved: dict[str, bytes] | None = None) -> None:
        self._installation = installation
        self._moved = moved or {}
        self.id = secrets.token_hex(4)

    def make(self) -> str:
        """Store all of it; the name of the backup."""
        for part, root in (("vault", self._installation.vault), ("trust", self._installation.home)):
            self._store(part, root)
        return self.id

    def store_files(self, part: str, root: Path) -> None:
        """The first of the two snapshots of a part."""
        left_out = {"vault": (".parachute/**/*.db",), "trust": ("**/*.db", "backup", "run", "logs")}[part]
        excludes = [f"--exclude={root}/{pattern}" for pattern in left_out]
        self._installation.restic("backup", "--tag", self._tags(part, "files"), *excludes, str(root))

    def entries(self, part: str, root: Path, content: Path) -> list[dict[str, Any]]:
        """The lines of the manifest; copies go to `content`."""
        found: list[dict[str, Any]] = []
        for path in sorted([root, *root.rglob("*")]):
            name = str(path.relative_to(root))
            if part == "trust" and name.split("/")[0] in ("backup", "run", "logs"):
                continue
            entry: dict[str, Any] = {"path": name, "mode": stat.S_IMODE(path.lstat().st_mode)}
            number = f"{len(found):06}"
            if path.is_symlink():
                entry |= {"kind": "link", "target": os.readlink(path)}  # noqa: PTH115 - Path would tidy it up
                if not entry["target"].isprintable() or path.suffix == ".db":
                    entry["content"] = ""  # restic before 0.16 could not hold it, or did not read it
            elif path.is_dir():
                entry |= {"kind": "folder", **({"content": ""} if path.suffix == ".db" else {})}
            else:
                entry |= {"kind": "file", "size": path.stat().st_size, "modified": path.stat().st_mtime_ns}
                data = path.read_bytes()
                if path.parent.suffix == ".db":
                    (content / number).write_bytes(data)
                    entry["content"] = number
                elif path.suffix == ".db":
                    with sqlite3.connect(path) as source, sqlite3.connect(content / number) as target:
                        source.backup(target)
                    source.close()
                    target.close()
                    data = (content / number).read_bytes()
                    del entry["modified"]
                    entry |= {"content": number, "size": len(data)}
                elif part == "vault" and name in self._moved:
                    data = self._moved[name]
                    (content / number).write_bytes(data)
                    entry |= {"content": number, "size": len(data)}
                entry["sha256"] = hashlib.sha256(data).hexdigest()
            found.append(entry)
        return found

    def close(self, part: str, folder: Path, entries: list[dict[str, Any]]) -> None:
        """The second snapshot of a part."""
        lines = [line({"version": 1, "part": part, "run": self.id}), *map(line, entries)]
        digest = hashlib.sha256(b"".join(lines)).hexdigest()
        end = line({"end": len(entries), "sha256": digest})
        (folder / "manifest.jsonl").write_bytes(b"".join(lines) + end)
        self._installation.restic("backup", "--tag", self._tags(part, "closed"), str(folder))
        shutil.rmtree(folder)

    def staging(self, part: str) -> Path:
        """The folder of the second snapshot."""
        folder = self._installation.home / "backup" / "staging" / part
        (folder / "content").mkdir(parents=True)
        return folder

    def _store(self, part: str, root: Path) -> None:
        folder = self.staging(part)
        entries = self.entries(part, root, folder / "content")
        self.store_files(part, root)
        self.close(part, folder, entries)

    def _tags(self, part: str, kind: str) -> str:
        installation = self._installation.places.installation
        return f"parachute,{part},{kind},run-{self.id},installation-{installation}"
