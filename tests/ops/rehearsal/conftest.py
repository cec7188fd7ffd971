"""A computer with a conversation, secrets and something in its vault, which is stopped while new versions are rehearsed on it."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import httpx2
import pytest

from parachute.base.files import walk_tree
from parachute.config.declared.file import VARIABLE
from parachute.ops.rehearsal.models import Check, Rehearsal
from parachute.ops.rehearsal.service import rehearse
from tests.config.declared.declaring import write
from tests.modules.runtime.module_computer import ModuleComputer
from tests.ops.rehearsal.versions import version
from tests.support.computer import Computer
from tests.support.installation import PLAIN
from tests.support.messages_api import MessagesAPI, text

SECRET = "must-be-in-no-copy"


class Declaring(ModuleComputer):
    """A computer for which the system declares something."""

    def __enter__(self) -> Self:
        super().__enter__()
        return self

    def start(self) -> None:
        if not (declaration := self.folder / "declared.json").exists():
            write(declaration)
        self._environment[VARIABLE] = str(declaration)
        super().start()


@pytest.fixture(scope="module")
def owned() -> Iterator[Declaring]:
    """The computer, which does not run."""
    with MessagesAPI() as api:
        environment = {"ANTHROPIC_API_KEY": SECRET, "ANTHROPIC_BASE_URL": api.url}
        with Declaring(environment=environment, settings={"hostnames": ["mine.example"]}) as computer:
            computer.install("tested")
            api.default(text("Hello."))
            body = {"message": "Hi", "sessionId": "new", "module": "chat"}
            assert '"done"' in httpx2.post(f"{computer.url}/api/chat", json=body, timeout=60, **PLAIN).text
            for name in ("credentials.json", "bot-tokens.json", "mcp-secrets.json", "git-tokens.json"):
                (computer.home.root / name).write_text(json.dumps({"api_key": SECRET}))
            (computer.home.root / "backup").mkdir(exist_ok=True)
            (computer.home.root / "backup" / "password").write_text(SECRET)
            (computer.vault / "Notes.md").write_text("What I wrote.\n")
            computer.stop()
            yield computer


@pytest.fixture
def rehearsed(owned: Computer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Rehearsal]:
    """Rehearse a version with changes, and see that the computer is what it was before."""
    monkeypatch.setenv("HOME", str(owned.folder))
    monkeypatch.delenv("PARACHUTE_HOME", raising=False)

    def rehearsed(changes: dict[str, str] | None = None, declared: Path | None = None) -> Rehearsal:
        python = version(tmp_path / "version", changes)
        before, told = content_of(owned.folder), list[Check]()
        result = asyncio.run(rehearse(owned.home, python, told.append, declared))
        assert tuple(told) == result.checks
        assert content_of(owned.folder) == before
        return result

    return rehearsed


def content_of(folder: Path) -> dict[str, str]:
    """Every file, link and folder below a folder, with modes, and times of change and hashes of files."""
    found = {}
    for path, status in walk_tree(folder):
        full = folder / path
        # SQLite's own, which say nothing of a database that nobody has open.
        if path.endswith(("rehearsal.lock", ".db-shm")) or (path.endswith(".db-wal") and not status.st_size):
            continue
        if full.is_symlink():
            found[path] = str(full.readlink())
        elif full.is_file():
            found[path] = f"{status.st_mode} {status.st_mtime_ns} {hashlib.sha256(full.read_bytes()).hexdigest()}"
        else:
            found[path] = str(status.st_mode)
    return found
