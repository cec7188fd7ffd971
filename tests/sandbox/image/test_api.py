"""`POST /api/sandbox/build` as the app reads it: 200 and a stream, in which it only looks for the word build_error."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from parachute.security.keys.cli_token import CliToken
from tests.server.api.with_key import ComputerWithKey
from tests.support.computer import Computer


@pytest.fixture(
    params=[Computer, pytest.param(ComputerWithKey, marks=pytest.mark.long)], ids=["here", "tokyo-with-key"]
)
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Computer]:
    """A computer on which no image can be built: there is no program for it."""
    (tmp_path / "bin").mkdir()
    with request.param(environment={"PATH": str(tmp_path / "bin")}) as running:
        yield running


@pytest.mark.computer
@pytest.mark.long
async def test_a_build_that_is_not_possible_is_told_in_the_stream(house: Computer) -> None:
    token = house.key if isinstance(house, ComputerWithKey) else CliToken(house.home.root).obtain()
    async with house.client(headers={"authorization": f"Bearer {token}"}) as owner:
        answer = await owner.post("/api/sandbox/build", json={})
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in answer.text.splitlines() if line]
        (event,) = [json.loads(line.removeprefix("data: ")) for line in lines]
        assert (event["type"], event["seq"]) == ("build_error", 1)
        assert event["error"]
        assert event["hint"]
        assert (await owner.delete("/api/sandbox/build")).json() == {"cancelled": False}
    assert not (house.home.root / "image.json").exists()
    async with house.client(headers={"origin": "http://elsewhere.example"}) as stranger:
        assert (await stranger.post("/api/sandbox/build", json={})).status_code == 403
