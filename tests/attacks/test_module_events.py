"""A16: a module that publishes without an end."""

from collections.abc import Iterator

import pytest

from tests.modules.runtime.module_computer import ModuleComputer

pytestmark = pytest.mark.long

PUBLISHES = """
@route("POST", "/flood")
async def flood(self, number: int, size: int):
    sent, problem = 0, None
    for _ in range(number):
        try:
            await self.core.publish("floods.seen", {"text": "x" * size})
            sent += 1
        except Exception as error:
            problem = str(error)
            break
    return {"sent": sent, "problem": problem}
"""


@pytest.fixture(scope="module")
def computer() -> Iterator[ModuleComputer]:
    with ModuleComputer() as running:
        running.install_quietly("floods", PUBLISHES)
        running.install_quietly("others", PUBLISHES.replace("floods.seen", "others.seen"))
        yield running


async def test_a_module_publishes_as_fast_as_the_disk_bears(computer: ModuleComputer) -> None:
    async with computer.client() as client:
        large = (await client.post("/api/floods/flood", json={"number": 200, "size": 200_000})).json()
        assert large["sent"] > 50
        assert "floods publishes more" in str(large["problem"])
        # What one has used up is nobody else's.
        others = (await client.post("/api/others/flood", json={"number": 300, "size": 10})).json()
        assert others == {"sent": 300, "problem": None}
