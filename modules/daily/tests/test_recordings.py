"""Recordings in pieces: each is in the journal's folder once, whole, however often it was sent."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from module import DailyModule

from parachute.core.pieces import Announced
from parachute.core.testing import Running, run

DAY = "2025-03-04"
KEY = "cd" * 12
SOUND = bytes(range(256)) * 900
PLACE = f"Daily/assets/{DAY}/voice.webm"


@pytest.fixture
async def daily() -> AsyncIterator[Running]:
    async with run(DailyModule) as running:
        yield running


def query(sound: bytes = SOUND, **more: Any) -> dict[str, Any]:
    """Announce a recording."""
    return {"name": "voice.webm", "date": DAY, "size": len(sound), "sha256": hashlib.sha256(sound).hexdigest(), **more}


async def put(
    daily: Running, sound: bytes = SOUND, key: str = KEY, piece: int = 100_000, **more: Any
) -> dict[str, Any]:
    """Send a recording as a device does, from what is there on."""
    answer = await daily.get(f"/recordings/{key}", **query(sound, **more))
    while answer.status == 200 and not answer.json()["path"]:
        there = answer.json()["offset"]
        answer = await daily.put(
            f"/recordings/{key}", sound[there : there + piece], **query(sound, **more), offset=there
        )
        if answer.status == 409:
            answer = await daily.get(f"/recordings/{key}", **query(sound, **more))
    assert answer.status == 200, answer.text
    return dict(answer.json())


async def test_a_recording_arrives_in_pieces_and_becomes_an_entry(daily: Running) -> None:
    first = await daily.put(f"/recordings/{KEY}", SOUND[:5000], **query(), offset=0)
    assert first.json() == {"offset": 5000, "path": None, "vault_path": None}
    assert not (daily.vault / PLACE).exists()
    done = await put(daily)
    assert done == {"offset": len(SOUND), "path": f"assets/{DAY}/voice.webm", "vault_path": PLACE}
    assert (daily.vault / PLACE).read_bytes() == SOUND
    assert list((daily.vault / "Daily/assets/.incoming").iterdir()) == []
    entry = await daily.post("/entries", {"audio_path": done["path"], "duration": 3, "date": DAY})
    assert entry.json()["type"] == "voice"


async def test_the_same_recording_is_one_and_another_of_its_name_is_kept_beside(daily: Running) -> None:
    done = await put(daily)
    assert await put(daily) == done
    late = await daily.put(f"/recordings/{KEY}", SOUND[:10], **query(), offset=0)
    assert (late.status, late.json()) == (200, done)
    other = await put(daily, SOUND[::-1], "ef" * 12)
    assert other["path"] != done["path"]
    assert await put(daily, SOUND[::-1], "ef" * 12) == other
    assert (daily.vault / PLACE).read_bytes() == SOUND
    assert (daily.vault / other["vault_path"]).read_bytes() == SOUND[::-1]


async def test_two_senders_make_one_recording(daily: Running) -> None:
    done = await asyncio.gather(*(put(daily, piece=size) for size in (7_000, 11_000, 13_000)))
    assert done[0] == done[1] == done[2]
    assert [path.name for path in (daily.vault / f"Daily/assets/{DAY}").iterdir()] == ["voice.webm"]


async def test_what_was_complete_when_the_process_died_is_taken(daily: Running) -> None:
    announced = Announced.read(KEY, len(SOUND), query()["sha256"])
    (daily.vault / "Daily/assets/.incoming").mkdir(parents=True)
    (daily.vault / f"Daily/assets/.incoming/{announced.name}").write_bytes(SOUND)
    await put(daily)
    assert (daily.vault / PLACE).read_bytes() == SOUND


async def test_a_server_that_was_restored_asks_for_what_it_lacks(daily: Running) -> None:
    done = await put(daily)
    (daily.vault / PLACE).unlink()
    assert (await daily.get(f"/recordings/{KEY}", **query())).json()["offset"] == 0
    assert await put(daily) == done
    (daily.vault / PLACE).write_bytes(SOUND[:-1] + b"?")
    again = await put(daily)
    assert (daily.vault / again["vault_path"]).read_bytes() == SOUND


async def test_a_wrong_hash_makes_nothing(daily: Running) -> None:
    wrong = query(sha256="0" * 64, size=10)
    answer = await daily.put(f"/recordings/{KEY}", b"0123456789", **wrong, offset=0)
    assert (answer.status, answer.json()["key"]) == (422, "wrong_hash")
    assert (await daily.get(f"/recordings/{KEY}", **wrong)).json()["offset"] == 0
    assert not (daily.vault / "Daily/assets" / DAY).exists()


@pytest.mark.parametrize(
    "more",
    [
        {"name": ".."},
        {"name": "x.key"},
        {"date": "today"},
        {"size": "-1"},
        {"sha256": "x"},
        {"offset": "x"},
        {"size": 0},
    ],
    ids=str,
)
async def test_what_cannot_be_is_refused(daily: Running, more: dict[str, Any]) -> None:
    answer = await daily.put(f"/recordings/{KEY}", b"x", **{**query(b"x"), "offset": 0, **more})
    assert 400 <= answer.status < 500
    assert not (daily.vault / "Daily/assets").exists()
    assert (await daily.put("/recordings/..%2f..%2fx", b"x", **query(b"x"), offset=0)).status in (404, 422)


async def test_incoming_recordings_are_read_by_nobody(daily: Running) -> None:
    await daily.put(f"/recordings/{KEY}", SOUND[:5000], **query(), offset=0)
    (name,) = [path.name for path in (daily.vault / "Daily/assets/.incoming").iterdir()]
    assert (await daily.get(f"/assets/.incoming/{name}")).status in (403, 404, 422)
