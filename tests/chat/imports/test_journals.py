"""Journals of other programs and mails are imported by a whole computer: placed, skipped the second time, and taken back."""

import json
import random
from typing import Any

import httpx2
import pytest

from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from tests.contract.responses import check_error
from tests.support.official import install
from tests.support.server import Server

from . import journals
from .conftest import undone, upload
from .journals import ISLAND, PICTURE, dayone_entry, md5

pytestmark = pytest.mark.long

DAY = "2017-06-28"


@pytest.fixture(scope="module", autouse=True)
def daily(server: Server) -> None:
    """The journal, which takes them."""
    install(server, "daily")


async def entries(client: httpx2.AsyncClient, day: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await client.get("/api/daily/entries", params={"date": day})).json()["entries"]
    return found


async def test_day_one_comes_once_with_its_files_and_is_taken_back(server: Server, owner: httpx2.AsyncClient) -> None:
    counted = await upload(owner, journals.dayone_zip(), dry_run="true")
    assert (counted["kind"], counted["entries"], counted["entriesImported"], counted["media"]) == ("dayone", 1, 1, 4)
    assert await entries(owner, DAY) == []
    done = await upload(owner, journals.dayone_zip())
    assert (done["state"], done["entriesImported"], done["media"]) == ("done", 1, 4)
    (entry,) = await entries(owner, DAY)
    assert (entry["time"], entry["title"], entry["fields"]["place"]) == (
        "23:38",
        "Green Island",
        "Zhaori, Ludao, Taitung, Taiwan",
    )
    picture = await owner.get(f"/api/daily/assets/{DAY}/{md5(PICTURE)}.png")
    assert picture.content == PICTURE
    found = (await owner.get("/api/daily/search", params={"tag": "motorbike", "place": "taiwan"})).json()["entries"]
    assert [each["id"] for each in found] == [entry["id"]]

    newer = journals.dayone_zip(ISLAND, dayone_entry("N" * 32, f"{DAY}T01:00:00Z", "Written since."))
    again = await upload(owner, newer)
    assert (again["entriesImported"], again["entriesSkipped"], again["media"]) == (1, 1, 0)
    assert [each["content"][:9] for each in await entries(owner, DAY)] == ["Written s", "![](../as"]
    assert (await undone(owner, again["id"]))["entriesImported"] == 0
    assert [each["id"] for each in await entries(owner, DAY)] == [entry["id"]]

    gone = await undone(owner, done["id"])
    assert (gone["state"], gone["kept"]) == ("undone", [])
    assert await entries(owner, DAY) == []
    assert not (server.vault / "Daily/journals" / f"{DAY}.md").exists()
    assert not (server.vault / "Daily/assets" / DAY).exists()


async def test_what_was_changed_here_stays_with_its_files(server: Server, owner: httpx2.AsyncClient) -> None:
    done = await upload(owner, journals.apple_zip())
    (entry,) = await entries(owner, "2023-12-17")
    await owner.put(f"/api/daily/entries/{entry['id']}", json={"title": "Mine"})
    kept = (await undone(owner, done["id"]))["kept"]
    assert entry["id"] in kept
    assert {each for each in kept if each.startswith("Daily/")} == {
        "Daily/assets/2023-12-17/IMG1.png",
        "Daily/assets/2023-12-17/VID1.mov",
    }
    assert (server.vault / "Daily/assets/2023-12-17/IMG1.png").read_bytes() == PICTURE


async def test_mails_come_with_what_is_attached(owner: httpx2.AsyncClient) -> None:
    done = await upload(owner, journals.mail(), kind="mail")
    assert (done["entriesImported"], done["media"]) == (1, 1)
    (entry,) = await entries(owner, "2024-03-05")
    assert (entry["title"], entry["type"]) == ("Tickets", "mail")
    assert (await upload(owner, journals.mail()))["entriesSkipped"] == 1


async def test_nothing_comes_into_the_journal_without_the_owner(server: Server, owner: httpx2.AsyncClient) -> None:
    _, key = Keys(server.home.root).create("bringer", [Scope("imports", frozenset({"read", "write"}))])
    async with server.client(headers={"authorization": f"Bearer {key}"}) as guest:
        answer = await guest.post(
            "/api/imports", content=journals.dayone_zip(dayone_entry("Q" * 32, "2016-01-01T10:00:00Z"))
        )
        check_error(answer, 403)
    assert await entries(owner, "2016-01-01") == []


async def test_hostile_names_place_nothing(server: Server, owner: httpx2.AsyncClient) -> None:
    before = sorted(server.vault.rglob("*"))
    evil = dayone_entry(
        "E" * 32,
        "2015-01-01T10:00:00Z",
        text="![](dayone-moment://AGENTS)",
        photos=[{"identifier": "AGENTS", "md5": "../../AGENTS", "type": "png"}],
    )
    packed = {
        "Journal.json": journals.dayone_journal(evil),
        "photos/../../../AGENTS.png": PICTURE,
        "photos/CLAUDE.md": b"Obey.",
    }
    done = await upload(owner, journals.archive(packed))
    assert (done["entriesImported"], done["media"]) == (0, 0)
    assert [
        each for each in sorted(server.vault.rglob("*")) if each not in before and "imports" not in each.parts
    ] == []


async def test_a_damaged_picture_does_not_cost_the_others(owner: httpx2.AsyncClient) -> None:
    noise = random.Random(7).randbytes(4096)
    photos = [
        {"identifier": f"P{number}", "md5": md5(data), "type": "png"} for number, data in enumerate((noise, PICTURE))
    ]
    whole = dayone_entry("D" * 32, "2014-01-01T10:00:00Z", photos=photos)
    packed = bytearray(
        journals.dayone_zip(
            whole, dayone_entry("F" * 32, "2014-01-02T10:00:00Z"), files={f"photos/{md5(noise)}.png": noise}
        )
    )
    packed[packed.index(noise) + 100] ^= 0xFF
    done = await upload(owner, bytes(packed))
    assert (done["state"], done["entriesImported"], done["media"]) == ("done", 2, 1)
    assert {each["what"]: each["count"] for each in done["leftOut"]}["media_damaged"] == 1


async def test_what_the_journal_says_is_of_others_from_then_on(server: Server, owner: httpx2.AsyncClient) -> None:
    await upload(owner, journals.mail(name="origin@a.example", sent="Tue, 5 Mar 2013 10:00:00 +0000"), kind="mail")
    read = json.loads((server.home.root / "module-origins.json").read_bytes())
    assert read["daily"] == "import"
