"""The build that belongs to core: readers come and go, it goes on."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from parachute.base.errors import InvalidInput
from parachute.sandbox.image.models import Image
from parachute.sandbox.image.service import Builds
from tests.sandbox.image.conftest import Programs

pytestmark = pytest.mark.process


class Trial:
    """A trial of an image that waits until it is told how it ends."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.goes_on = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self, image: str) -> None:
        """One trial."""
        self.began.set()
        await self.goes_on.wait()
        if self.error:
            raise self.error


@pytest.fixture
def trial() -> Trial:
    """The trial of the next build."""
    return Trial()


@pytest.fixture
async def builds(home: Path, programs: Programs, trial: Trial) -> AsyncIterator[Builds]:
    """Core's builds."""
    made = Builds(home, trial)
    yield made
    await made.close()


async def all_of(events: AsyncIterator[tuple[int, dict[str, Any]]]) -> list[tuple[int, dict[str, Any]]]:
    """Every event up to the last."""
    return [event async for event in events]


async def test_two_readers_follow_one_build(builds: Builds, trial: Trial, home: Path) -> None:
    first = asyncio.create_task(all_of(builds.begin()))
    await trial.began.wait()
    assert builds.is_running
    second = asyncio.create_task(all_of(builds.begin()))
    trial.goes_on.set()
    seen = await first
    assert seen == await second
    assert [seq for seq, _ in seen] == list(range(1, len(seen) + 1))
    assert {event["type"] for _, event in seen[:-1]} == {"progress"}
    image = Image.load(home)
    assert image is not None
    assert (seen[-1][1]["type"], seen[-1][1]["image"]["id"]) == ("done", image.id)
    assert "build_error" not in str(seen)


async def test_a_reader_that_leaves_ends_nothing(builds: Builds, trial: Trial, home: Path) -> None:
    reader = asyncio.create_task(all_of(builds.begin()))
    await trial.began.wait()
    reader.cancel()
    await asyncio.gather(reader, return_exceptions=True)
    trial.goes_on.set()
    assert (await all_of(builds.begin()))[-1][1]["type"] == "done"
    assert Image.load(home) is not None


@pytest.mark.long
async def test_an_error_is_an_event_and_the_next_build_begins_anew(builds: Builds, trial: Trial, home: Path) -> None:
    trial.goes_on.set()
    trial.error = InvalidInput("The container is not shut in.", "Look at it.")
    seen = await all_of(builds.begin())
    last = {
        "type": "build_error",
        "error": "The container is not shut in.",
        "hint": "Look at it.",
        "key": "invalid_input",
    }
    assert seen[-1][1] == last
    trial.error = RuntimeError("a secret path")
    assert "secret" not in str(await all_of(builds.begin()))
    trial.error = None
    assert (await all_of(builds.begin()))[-1][1]["type"] == "done"


async def test_a_build_can_be_ended(builds: Builds, trial: Trial, home: Path, programs: Programs) -> None:
    assert await builds.cancel() is False
    reader = asyncio.create_task(all_of(builds.begin()))
    await trial.began.wait()
    assert await builds.cancel() is True
    assert (await reader)[-1][1]["key"] == "cancelled"
    assert not builds.is_running
    assert (Image.load(home), programs.images) == (None, {})
