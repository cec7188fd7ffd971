"""Backups of a running computer, as a screen asks for them; restic is the real one."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from parachute.security.keys.cli_token import CliToken
from tests.support.computer import Computer
from tests.support.waiting import until


@pytest.fixture
def computer(empty_repository: Path, tmp_path: Path) -> Iterator[Computer]:
    shutil.copytree(empty_repository / "repository", tmp_path / "repository")
    made = Computer(settings={"backup": {"repository": str(tmp_path / "repository")}})
    password = made.home.root / "backup" / "password"
    password.parent.mkdir(mode=0o700)
    shutil.copyfile(empty_repository / "password", password)
    password.chmod(0o600)
    with made as running:
        yield running


@pytest.fixture
async def owner(computer: Computer) -> AsyncIterator[httpx2.AsyncClient]:
    async with computer.client(headers={"authorization": f"Bearer {CliToken(computer.home.root).obtain()}"}) as client:
        yield client


async def ended(client: httpx2.AsyncClient) -> dict[str, Any]:
    """How backups are when nothing is under way."""
    found: dict[str, Any] = {}

    async def is_over() -> bool:
        nonlocal found
        found = (await client.get("/api/backups")).json()
        return found["running"] is None

    await until(is_over, "nothing is under way")
    return found


async def test_a_backup_is_made_listed_and_drilled(computer: Computer, owner: httpx2.AsyncClient) -> None:
    before = (await owner.get("/api/backups")).json()
    assert (before["configured"], before["create"], before["concerns"]) == (True, None, ["No backup was made yet."])
    begun = await owner.post("/api/backups")
    assert (begun.status_code, begun.json()["kind"]) == (202, "create")
    second = await owner.post("/api/backups/drill")
    assert (second.status_code, second.json()["key"]) == (409, "busy")
    found = await ended(owner)
    assert (found["create"]["result"], found["problem"], found["concerns"]) == ("ok", None, [])
    (made,) = (await owner.get("/api/backups/list")).json()["backups"]
    assert (made["id"], made["own"], made["finished"]) == (found["create"]["backup"], True, True)
    broken = computer.vault / ".parachute" / "notes.db"
    broken.write_bytes(b"SQLite format 3\0" + b"x" * 4000)
    await owner.post("/api/backups")
    found = await ended(owner)
    assert (found["create"]["result"], found["problem"]) == ("incomplete", None)
    broken.unlink()
    assert (await owner.post("/api/backups/drill")).status_code == 202
    found = await ended(owner)
    assert found["drill"]["result"] == "ok"
    shutil.rmtree(Path(found["repository"]))
    await owner.post("/api/backups")
    found = await ended(owner)
    assert found["create"]["result"] == "failed"
    assert "repository" in found["problem"]
    assert "ended with status" not in found["problem"]
    assert (await owner.get("/api/backups/list")).json()["key"] == "backup_failed"
