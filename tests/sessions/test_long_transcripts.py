"""Long transcripts are read in parts: opening one again reads its newest part only (F9)."""

import json
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from .conftest import Shelf
from .test_transcripts import BOUNDARY, ids, jsonl, read


def turns(first: int, last: int, size: int = 2_000) -> Iterator[dict[str, Any]]:
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


async def parts(shelf: Shelf) -> list[list[str]]:
    count = (await read(shelf))["segmentCount"]
    return [ids(await read(shelf, segment=index)) for index in range(count)]


def read_bytes() -> int:
    """How many bytes this process has read from files."""
    return int(Path("/proc/self/io").read_text().split()[1])


async def test_the_parts_of_a_long_one_are_all_of_it(shelf: Shelf) -> None:
    await shelf.add("a")
    events = [*turns(0, 300), BOUNDARY, *turns(300, 900)]
    shelf.write_transcript("a", jsonl(*events))
    answer = await read(shelf)
    assert answer["segmentCount"] == 5
    assert answer["loadedSegmentIndex"] == 4
    assert answer["eventCount"] == len(events)
    found = await parts(shelf)
    assert found[-1] == ids(answer)
    assert list(chain.from_iterable(found)) == [event["uuid"] for event in events] == ids(await read(shelf, full=True))
    for segment in answer["segments"]:
        assert segment["preview"].startswith("Question")
    assert [segment["eventCount"] for segment in answer["segments"]] == [len(part) for part in found]


async def test_a_run_without_a_question_is_cut_as_well(shelf: Shelf) -> None:
    await shelf.add("a")
    events = [event for event in turns(0, 2_000) if event["message"]["content"] != "x" and event["uuid"][-1] != "0"]
    shelf.write_transcript("a", jsonl(*(event for event in events if not isinstance(event["message"]["content"], str))))
    assert 1 < (await read(shelf))["segmentCount"] < 5


@pytest.mark.skipif(sys.platform != "linux", reason="It is counted by Linux.")
@pytest.mark.parametrize("what", ["transcript", "messages"])
async def test_opening_it_again_reads_the_newest_part_only(shelf: Shelf, what: str) -> None:
    await shelf.add("a")
    path = shelf.write_transcript("a", jsonl(*turns(0, 3_000)))
    await read(shelf)
    with path.open("ab") as file:
        file.write(jsonl(*turns(3_000, 3_001)))
    before = read_bytes()
    if what == "transcript":
        assert ids(await read(shelf))[-1].startswith("3000assistant")
    else:
        messages = json.loads(await shelf.service.with_messages("a"))["messages"]
        assert len(messages) == 500
        assert messages[-1]["content"] == [{"type": "text", "text": "Answer 3000"}]
        assert messages[0]["content"][0]["id"] == "t2834"
    assert path.stat().st_size > 6_000_000
    assert read_bytes() - before < 2_000_000


async def test_what_grows_or_is_written_anew_is_seen(shelf: Shelf) -> None:
    await shelf.add("a")
    path = shelf.write_transcript("a", jsonl(*turns(0, 600)))
    before = await read(shelf)
    with path.open("ab") as file:
        file.write(jsonl(*turns(600, 900))[:-1])  # the last line has no end yet
    events = list(turns(0, 900))
    assert list(chain.from_iterable(await parts(shelf))) == [event["uuid"] for event in events]
    after = await read(shelf)
    assert after["segments"][0] == before["segments"][0]
    assert after["eventCount"] == len(events)
    path.write_bytes(jsonl(*turns(0, 500, 2_500)))
    assert (await read(shelf))["eventCount"] == 2_000
    path.write_bytes(jsonl(*turns(7, 8)))
    assert (await read(shelf))["eventCount"] == 4
    path.unlink()
    shelf.write_transcript("a", jsonl(*turns(0, 900, 2_001)))
    assert (await read(shelf))["eventCount"] == len(events)


async def test_a_transcript_elsewhere_is_found_as_soon_as_it_is_there(shelf: Shelf) -> None:
    await shelf.add("a")
    projects = shelf.claude / "projects"
    projects.mkdir(parents=True)
    for number in range(3):
        assert shelf.transcripts.find("a") is None
        folder = projects / f"-home-{number}"
        folder.mkdir()
        assert shelf.transcripts.find("a") is None
        (folder / "a.jsonl").write_bytes(jsonl(*turns(0, 1)))
        assert shelf.transcripts.find("a") == folder / "a.jsonl"
        (folder / "a.jsonl").unlink()
