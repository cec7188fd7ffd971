"""Backups of a running computer, as a screen asks for them; restic is the real one."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from parachute.base.secret_files import read_variables
from parachute.ops.backup.access import VARIABLES
from parachute.ops.backup.kit.protection import NOT_PROTECTED
from parachute.security.keys.cli_token import CliToken
from tests.ops.backup.installation import keep_password
from tests.support.computer import Computer
from tests.support.making import Make
from tests.support.waiting import until


@pytest.fixture
def guarded(make_computer: Make[Computer], empty_repository: Path, tmp_path: Path) -> Computer:
    """A computer with a place for its backups."""
    shutil.copytree(empty_repository / "repository", tmp_path / "repository")
    computer = make_computer(backup={"repository": str(tmp_path / "repository")})
    keep_password(computer, empty_repository / "password")
    return computer


@pytest.fixture
async def owner(guarded: Computer) -> AsyncIterator[httpx2.AsyncClient]:
    async with guarded.client(headers={"authorization": f"Bearer {CliToken(guarded.home.root).obtain()}"}) as client:
        yield client


async def ended(client: httpx2.AsyncClient) -> dict[str, Any]:
    """Return the status of backups when nothing is under way."""
    found: dict[str, Any] = {}

    async def is_over() -> bool:
        nonlocal found
        found = (await client.get("/api/backups")).json()
        return found["running"] is None

    await until(is_over, "nothing is under way")
    return found


async def test_a_backup_is_made_listed_and_drilled(guarded: Computer, owner: httpx2.AsyncClient) -> None:
    before = (await owner.get("/api/backups")).json()
    assert (before["configured"], before["create"], before["concerns"]) == (True, None, ["No backup was made yet."])
    begun = await owner.post("/api/backups")
    assert (begun.status_code, begun.json()["kind"]) == (202, "create")
    second = await owner.post("/api/backups/drill")
    assert (second.status_code, second.json()["key"]) == (409, "busy")
    found = await ended(owner)
    assert (found["create"]["result"], found["problem"]) == ("ok", None)
    assert (found["concerns"], found["protected"]) == ([], False)
    (made,) = (await owner.get("/api/backups/list")).json()["backups"]
    assert (made["id"], made["own"], made["finished"]) == (found["create"]["backup"], True, True)
    assert made["protected"] is False
    await until(lambda: waits_in_the_inbox(owner), "the inbox says so")
    kit = await owner.post("/api/backups/kit")
    assert kit.headers["cache-control"] == "no-store"
    for wrong, key in (
        ("x" * 43, "wrong_password"),
        (kit.json()["text"].replace("place: ", "place: /elsewhere"), "other_kit"),
        (kit.json()["text"].replace("id: ", "id: 0"), "other_kit"),
        (kit.json()["text"].replace("password: ", "passwort: "), "kit_line_unreadable"),
    ):
        refused = await owner.post("/api/backups/kit/check", json={"kit": wrong})
        assert (refused.status_code >= 400, refused.json()["key"]) == (True, key)
        assert (await owner.get("/api/backups")).json()["protected"] is False
    opened = await owner.post("/api/backups/kit/check", json={"kit": kit.json()["text"]})
    assert (opened.status_code, opened.json()["fingerprint"]) == (200, kit.json()["fingerprint"])
    found = (await owner.get("/api/backups")).json()
    assert (found["protected"], found["concerns"]) == (True, [])
    assert (await owner.get("/api/backups/list")).json()["backups"][0]["protected"] is True

    async def inbox_is_empty() -> bool:
        return not await waits_in_the_inbox(owner)

    await until(inbox_is_empty, "nothing waits any more")
    assert kit.json()["password"] not in guarded.logs()
    assert not any(kit.json()["password"] in text for text in texts_below(guarded.vault))
    broken = guarded.vault / ".parachute" / "notes.db"
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


async def waits_in_the_inbox(client: httpx2.AsyncClient) -> bool:
    """Return whether the inbox says that nobody has tried the kit."""
    items = (await client.get("/api/inbox")).json()["items"]
    return NOT_PROTECTED in [item["title"] for item in items]


def texts_below(folder: Path) -> Iterator[str]:
    """Every file, the records of what was done among them."""
    return (path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file())


async def test_a_place_is_chosen_with_a_password_to_write_down(
    guarded: Computer, owner: httpx2.AsyncClient, tmp_path: Path
) -> None:
    before = (await owner.get("/api/backups")).json()["repository"]
    for wrong, key in (
        (str(guarded.vault / "backups"), "same_disk"),
        ("backups", "config_invalid"),
        ("sftp:-oProxyCommand=id:/x", "starts_a_program"),
        (str(tmp_path / "not plugged in" / "backups"), "no_folder"),
        (before, "repository_exists"),
    ):
        refused = await owner.put("/api/backups/repository", json={"repository": wrong, "replace": True})
        assert refused.status_code >= 400
        assert (await owner.get("/api/backups")).json()["repository"] == before, wrong
        assert refused.json()["key"] == key, (wrong, refused.json())
    (guarded.home.root / "backup" / "password").unlink()
    assert (await owner.post("/api/backups/kit")).json()["key"] == "backup_not_set_up"
    new = str(tmp_path / "new")
    refused = await owner.put("/api/backups/repository", json={"repository": new})
    assert (refused.status_code, refused.json()["key"]) == (409, "other_place")
    assert (await owner.get("/api/backups")).json()["repository"] == before
    made = await owner.put("/api/backups/repository", json={"repository": new, "replace": True})
    assert (made.status_code, made.json()["repository"]) == (200, new)
    shown = (await owner.post("/api/backups/kit")).json()
    assert shown["text"].splitlines()[1:3] == [f"place: {new}", f"password: {shown['password']}"]
    assert shown["password"] == (guarded.home.root / "backup" / "password").read_text().strip()
    assert shown["repository"] == new
    assert shown["password"] not in guarded.logs()
    assert (await owner.post("/api/backups")).status_code == 202
    assert (await ended(owner))["create"]["result"] == "ok"


async def test_where_they_go_and_what_opens_them_is_the_owners_word(guarded: Computer) -> None:
    async with guarded.client() as local:
        for method, path in (("PUT", "/api/backups/repository"), ("POST", "/api/backups/kit")):
            assert (await local.request(method, path, json={"repository": "/media/x"})).status_code == 403


async def test_credentials_of_a_place_are_typed_and_never_shown(
    guarded: Computer, owner: httpx2.AsyncClient, tmp_path: Path
) -> None:
    folder = guarded.home.root / "backup"
    secret = "a \"quoted' secret"
    typed = {"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": secret}
    for wrong, key in (
        ({"LD_PRELOAD": "x"}, "unknown_credential"),
        ({"AWS_SHARED_CREDENTIALS_FILE": "/vault/x"}, "unknown_credential"),
        ({"B2_ACCOUNT_ID": "a\nb"}, "credential_of_lines"),
    ):
        refused = await owner.put("/api/backups/credentials", json={"credentials": wrong})
        assert (refused.status_code, refused.json()["key"]) == (422, key)
        assert next(iter(wrong.values())) not in refused.json()["detail"]
    # A place that cannot be made leaves nothing behind.
    body = {"repository": str(tmp_path / "not plugged in" / "backups"), "credentials": typed, "replace": True}
    assert (await owner.put("/api/backups/repository", json=body)).json()["key"] == "no_folder"
    assert not list(folder.glob("environment*"))
    assert (await owner.get("/api/backups")).json()["credentials"] == []

    changed = await owner.put("/api/backups/credentials", json={"credentials": typed})
    assert (changed.status_code, changed.json()["credentials"]) == (200, sorted(typed))
    (file,) = folder.glob("environment*")
    assert file.stat().st_mode & 0o777 == 0o600
    assert read_variables(file, "x", VARIABLES) == typed
    kit = (await owner.post("/api/backups/kit")).json()
    assert kit["credentials"] == typed, "a new computer needs them"
    assert (await owner.post("/api/backups/kit/check", json={"kit": kit["text"]})).status_code == 200
    assert (await owner.put("/api/backups/credentials", json={"credentials": {"AWS_ACCESS_KEY_ID": "other"}})).json()[
        "protected"
    ] is False, "what the kit says holds no more"
    assert len(list(folder.glob("environment*"))) == 1
    assert not any(secret in text for text in [*texts_below(guarded.vault), guarded.logs()])
