"""A16: a module that publishes without an end."""

import pytest

from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.computer import Computer
from tests.support.making import Make

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


async def test_a_module_publishes_as_fast_as_the_disk_bears(make_computer: Make[Computer]) -> None:
    computer = make_computer(ModuleComputer)
    computer.install_quietly("floods", PUBLISHES)
    computer.install_quietly("others", PUBLISHES.replace("floods.seen", "others.seen"))
    async with computer.client() as client:
        large = (await client.post("/api/floods/flood", json={"number": 200, "size": 200_000})).json()
        assert large["sent"] > 50
        assert "floods publishes more" in str(large["problem"])
        # What one has used up is nobody else's.
        others = (await client.post("/api/others/flood", json={"number": 300, "size": 10})).json()
        assert others == {"sent": 300, "problem": None}
