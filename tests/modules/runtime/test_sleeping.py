"""Modules that fall asleep at the very moment at which somebody asks."""

import itertools
import threading
from typing import Any

import httpx2
import pytest

from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.installation import PLAIN

# Thirty starts, each after a second, may take minutes on a machine that does something else, too.
pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

BODY = """
@route("GET", "/process")
async def process(self):
    return {"started": STARTED}

@route("POST", "/tell")
async def tell(self):
    await self.core.publish(f"{self.name}.told", {})
    return {"started": STARTED}

@event("NAME.told")
async def on_told(self, told: Event):
    await self.core.storage.set(told.id, True)

@route("GET", "/heard")
async def heard(self):
    return {"heard": len(await self.core.storage.keys())}
"""
TOP = "import time\nSTARTED = time.time()\n"
MODULES = 10
LIVES = 3


def test_whoever_asks_while_a_module_falls_asleep_gets_an_answer(shared_computer: ModuleComputer) -> None:
    """Several modules, each with its own client, which asks around the moment at which the idle time is over."""
    idle = 1
    names = [f"dozing-{number}" for number in range(MODULES)]
    for name in names:
        body = BODY.replace("NAME", name)
        shared_computer.install_quietly(
            name, body, top=TOP, hooks=[{"event": f"{name}.told"}], service={"idle_seconds": idle}
        )
    shared_computer.reload()
    lives: dict[str, set[float]] = {name: set() for name in names}
    told = dict.fromkeys(names, 0)
    failures: list[str] = []

    def ask(name: str, number: int) -> None:
        pause = threading.Event()
        with httpx2.Client(base_url=shared_computer.url, **PLAIN, timeout=60) as client:
            for step in itertools.count():
                method, path = ("POST", "tell") if step % 3 == 2 else ("GET", "process")
                answer = client.request(method, f"/api/{name}/{path}")
                if not answer.is_success:
                    failures.append(f"{name}, {step}: {answer.status_code} {answer.text}")
                    return
                lives[name].add(answer.json()["started"])
                told[name] += method == "POST"
                if failures or len(lives[name]) >= LIVES:
                    return
                # What is waited for is the time itself: from a little before the end of the idle time to a little after.
                pause.wait(idle + (-0.03, -0.01, 0.0, 0.002, 0.005, 0.01, 0.02, 0.05)[(step + number) % 8])

    threads = [threading.Thread(target=ask, args=(name, number)) for number, name in enumerate(names)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert sum(map(len, lives.values())) >= 30
    for name in names:

        def has_heard(value: Any, name: str = name) -> bool:
            return bool(value["heard"] >= told[name])

        seen = shared_computer.eventually(f"/api/{name}/heard", has_heard, "events")
        assert seen["heard"] == told[name]
        assert shared_computer.module(name)["unit"]["restarts"] == 0
