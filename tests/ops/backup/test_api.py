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


async def test_a_place_is_chosen_with_a_password_to_write_down(
    computer: Computer, owner: httpx2.AsyncClient, tmp_path: Path
) -> None:
    before = (await owner.get("/api/backups")).json()["repository"]
    for wrong, key in (
        (str(computer.vault / "backups"), "invalid_input"),
        ("backups", "config_invalid"),
        ("sftp:-oProxyCommand=id:/x", "invalid_input"),
        (str(tmp_path / "not plugged in" / "backups"), "backup_failed"),
        (before, "backup_failed"),
    ):
        refused = await owner.put("/api/backups/repository", json={"repository": wrong})
        assert refused.status_code >= 400
        assert (await owner.get("/api/backups")).json()["repository"] == before, wrong
        assert refused.json()["key"] == key, (wrong, refused.json())
    (computer.home.root / "backup" / "password").unlink()
    assert (await owner.post("/api/backups/password")).json()["key"] == "backup_not_set_up"
    new = str(tmp_path / "new")
    made = await owner.put("/api/backups/repository", json={"repository": new})
    assert (made.status_code, made.json()["repository"]) == (200, new)
    shown = (await owner.post("/api/backups/password")).json()
    assert shown["password"] == (computer.home.root / "backup" / "password").read_text().strip()
    assert shown["repository"] == new
    assert shown["password"] not in computer.logs()
    assert (await owner.post("/api/backups")).status_code == 202
    assert (await ended(owner))["create"]["result"] == "ok"


async def test_where_they_go_and_what_opens_them_is_the_owners_word(computer: Computer) -> None:
    async with computer.client() as local:
        for method, path in (("PUT", "/api/backups/repository"), ("POST", "/api/backups/password")):
            assert (await local.request(method, path, json={"repository": "/media/x"})).status_code == 403
