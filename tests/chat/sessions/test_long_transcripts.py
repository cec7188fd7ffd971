"""Long transcripts are read in parts: opening one again reads its newest part only, after a start as well (F9, G)."""

import json
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from parachute.chat.sessions.transcripts import Transcripts

from .conftest import SessionStorage
from .test_transcripts import BOUNDARY, ids, jsonl, read


def turns(first: int, last: int, size: int = 20_000) -> Iterator[dict[str, Any]]:
    """Questions with a call, its result and an answer."""
    for number in range(first, last):
        use = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "x" * size}
        for role, content in (
            ("user", f"Question {number}"),
            ("assistant", [use]),
            ("user", [result]),
            ("assistant", [{"type": "text", "text": f"Answer {number}"}]),
        ):
            yield {"type": role, "uuid": f"{number}{role}{len(str(content))}", "message": {"content": content}}


async def parts(storage: SessionStorage) -> list[list[str]]:
    count = (await read(storage))["segmentCount"]
    return [ids(await read(storage, segment=index)) for index in range(count)]


def restart(storage: SessionStorage) -> None:
    """Forget what is in memory of transcripts."""
    storage.service.transcripts = storage.transcripts = Transcripts(storage.vault, storage.claude)


def read_bytes() -> int:
    """Count the bytes that this process has read from files."""
    return int(Path("/proc/self/io").read_text().split()[1])


async def test_the_parts_of_a_long_one_are_all_of_it(storage: SessionStorage) -> None:
    await storage.add("a")
    events = [*turns(0, 30), BOUNDARY, *turns(30, 90)]
    storage.write_transcript("a", jsonl(*events))
    answer = await read(storage)
    assert answer["segmentCount"] == 5
    assert answer["loadedSegmentIndex"] == 4
    assert answer["eventCount"] == len(events)
    found = await parts(storage)
    assert found[-1] == ids(answer)
    assert (
        list(chain.from_iterable(found)) == [event["uuid"] for event in events] == ids(await read(storage, full=True))
    )
    for segment in answer["segments"]:
        assert segment["preview"].startswith("Question")
    assert [segment["eventCount"] for segment in answer["segments"]] == [len(part) for part in found]


async def test_a_run_without_a_question_is_cut_as_well(storage: SessionStorage) -> None:
    await storage.add("a")
    events = [event for event in turns(0, 200) if event["message"]["content"] != "x" and event["uuid"][-1] != "0"]
    storage.write_transcript(
        "a", jsonl(*(event for event in events if not isinstance(event["message"]["content"], str)))
    )
    assert 1 < (await read(storage))["segmentCount"] < 5


@pytest.mark.skipif(sys.platform != "linux", reason="It is counted by Linux.")
@pytest.mark.parametrize(("what", "number", "size"), [("transcript", 300, 20_000), ("messages", 3_000, 2_000)])
async def test_opening_it_again_reads_the_newest_part_only(
    storage: SessionStorage, what: str, number: int, size: int
) -> None:
    await storage.add("a")
    path = storage.write_transcript("a", jsonl(*turns(0, number, size)))
    await read(storage)
    with path.open("ab") as file:
        file.write(jsonl(*turns(number, number + 1, size)))
    before = read_bytes()
    if what == "transcript":
        assert ids(await read(storage))[-1].startswith("300assistant")
    else:
        messages = json.loads(await storage.service.with_messages("a"))["messages"]
        assert len(messages) == 500
        assert messages[-1]["content"] == [{"type": "text", "text": "Answer 3000"}]
        assert messages[0]["content"][0]["id"] == "t2834"
    assert path.stat().st_size > 6_000_000
    assert read_bytes() - before < 2_000_000


async def test_as_many_messages_as_one_wants_come_from_every_part(storage: SessionStorage) -> None:
    await storage.add("a")
    storage.write_transcript("a", jsonl(*turns(0, 400, 5_000)))
    assert (await read(storage))["segmentCount"] > 3
    for limit in (1, 700, 5_000):
        messages = json.loads(await storage.service.with_messages("a", limit=limit))["messages"]
        assert len(messages) == min(limit, 1_200)
        assert messages[-1]["content"] == [{"type": "text", "text": "Answer 399"}]


async def test_what_grows_or_is_written_anew_is_seen(storage: SessionStorage) -> None:
    await storage.add("a")
    path = storage.write_transcript("a", jsonl(*turns(0, 60)))
    before = await read(storage)
    with path.open("ab") as file:
        file.write(jsonl(*turns(60, 90))[:-1])  # the last line has no end yet
    events = list(turns(0, 90))
    assert list(chain.from_iterable(await parts(storage))) == [event["uuid"] for event in events]
    after = await read(storage)
    assert after["segments"][0] == before["segments"][0]
    assert after["eventCount"] == len(events)
    path.write_bytes(jsonl(*turns(0, 50, 25_000)))
    assert (await read(storage))["eventCount"] == 200
    path.write_bytes(jsonl(*turns(7, 8)))
    assert (await read(storage))["eventCount"] == 4
    path.unlink()
    storage.write_transcript("a", jsonl(*turns(0, 90, 20_001)))
    assert (await read(storage))["eventCount"] == len(events)


async def test_a_transcript_elsewhere_is_found_as_soon_as_it_is_there(storage: SessionStorage) -> None:
    await storage.add("a")
    projects = storage.claude / "projects"
    projects.mkdir(parents=True)
    for number in range(3):
        assert storage.transcripts.find("a") is None
        folder = projects / f"-home-{number}"
        folder.mkdir()
        assert storage.transcripts.find("a") is None
        (folder / "a.jsonl").write_bytes(jsonl(*turns(0, 1)))
        assert storage.transcripts.find("a") == folder / "a.jsonl"
        (folder / "a.jsonl").unlink()


@pytest.mark.skipif(sys.platform != "linux", reason="It is counted by Linux.")
@pytest.mark.parametrize("known_by", ["reading", "a turn", "the index"])
async def test_opening_it_after_a_start_reads_the_newest_part_only(storage: SessionStorage, known_by: str) -> None:
    await storage.add("a")
    path = storage.write_transcript("a", jsonl(*turns(0, 300)))
    if known_by == "reading":
        await read(storage)
    elif known_by == "a turn":
        storage.transcripts.prepare("a")
    else:
        await storage.service.search_index.update("a")
    restart(storage)
    with path.open("ab") as file:
        file.write(jsonl(*turns(300, 301)))
    before = read_bytes()
    answer = await read(storage)
    assert read_bytes() - before < 2_000_000
    assert ids(answer)[-1].startswith("300assistant")
    assert answer["eventCount"] == 4 * 301
    (storage.vault.state / "outlines" / "a.json").unlink()
    restart(storage)
    assert await read(storage) == answer


async def test_after_a_start_what_has_changed_meanwhile_is_seen(storage: SessionStorage) -> None:
    await storage.add("a")
    whole = jsonl(*turns(0, 90))
    path = storage.write_transcript("a", whole)

    async def after(change: bytes) -> list[str]:
        path.write_bytes(whole)
        assert len(await parts(storage)) > 2
        path.write_bytes(change)
        restart(storage)
        found = list(chain.from_iterable(await parts(storage)))
        assert (await read(storage))["eventCount"] == len(found)
        return found

    every = [event["uuid"] for event in turns(0, 90)]
    assert await after(whole[:-100]) == every[:-1]  # cut in the last line
    lines = whole[: len(whole) // 2].count(b"\n")
    assert await after(whole[: len(whole) // 2]) == every[:lines]  # cut in a line of an older part
    assert await after(whole[: len(whole) // 2] + b"\n" + jsonl(*turns(90, 91))) == [
        *every[:lines],
        *(event["uuid"] for event in turns(90, 91)),
    ]
    assert await after(jsonl(*turns(10, 110))) == [event["uuid"] for event in turns(10, 110)]
    assert await after(jsonl(*turns(7, 8))) == [event["uuid"] for event in turns(7, 8)]
    await parts(storage)
    path.rename(path.with_suffix(".older"))
    assert await after(jsonl(*turns(0, 100))) == [event["uuid"] for event in turns(0, 100)]  # another file


async def test_a_stored_outline_that_is_none_changes_nothing(storage: SessionStorage) -> None:
    await storage.add("a")
    storage.write_transcript("a", jsonl({"type": "user", "message": {"content": "Half a \ud800"}}, *turns(0, 60)))
    answer = await read(storage)
    stored = storage.vault.state / "outlines" / "a.json"
    sound = json.loads(stored.read_bytes())
    changes: tuple[dict[str, Any], ...] = (
        {"segments": []},
        {"segments": None},
        {"start": -1},
        {"start": 10**12},
        {"file": [0, 0]},
        {"before": ""},
        {"segments": [{"index": 0, "start": 700, "preview": 7}]},
    )
    for written in (*(json.dumps(sound | change) for change in changes), "[" * 100_000, ""):
        stored.write_text(written)
        restart(storage)
        assert await read(storage) == answer, written[:1000]
    stored.unlink()
    stored.symlink_to("/dev/zero")
    restart(storage)
    assert await read(storage) == answer


async def test_a_deleted_session_leaves_no_outline(storage: SessionStorage) -> None:
    await storage.add("a")
    storage.write_transcript("a", jsonl(*turns(0, 60)))
    await read(storage)
    assert list((storage.vault.state / "outlines").iterdir())
    await storage.service.delete("a")
    assert not list((storage.vault.state / "outlines").iterdir())


def test_what_was_taken_back_is_left_out_wherever_it_stands(storage: SessionStorage) -> None:
    def said(name: int, parent: int | None, letters: int) -> dict[str, Any]:
        role, text = "assistant" if name % 2 else "user", "x" * letters
        above = None if parent is None else str(parent)
        return {"type": role, "uuid": str(name), "parentUuid": above, "message": {"role": role, "content": text}}

    # Each question has two answers, of which the second counts: at the beginning, and behind what is kept of a file.
    for letters in (10, 2_000_000):
        lines: list[dict[str, Any]] = []
        before = None
        for name in range(0, 24, 4):
            first = [said(name, before, letters), said(name + 1, name, letters), said(name + 3, name, letters)]
            lines, before = [*lines, *first], name + 3
        storage.write_transcript("a", jsonl(*lines))
        found = [event["uuid"] for event in storage.transcripts.own_events("a")]
        assert found == [str(name + place) for name in range(0, 24, 4) for place in (0, 3)]
