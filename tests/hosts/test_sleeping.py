"""Modules that fall asleep at the very moment at which somebody asks."""

import contextlib
import itertools
import threading

import httpx2

from tests.hosts.household import Household

BODY = """
@route("GET", "/process")
async def process(self):
    return {"started": STARTED}

@route("POST", "/tell")
async def tell(self):
    await self.core.publish("dozing.told", {})

@event("dozing.told")
async def on_told(self, told: Event):
    await self.core.storage.set(told.id, True)

@route("GET", "/heard")
async def heard(self):
    return {"heard": len(await self.core.storage.keys())}
"""
TOP = "import time\nfrom parachute.core import Event\nSTARTED = time.time()\n"


def test_whoever_asks_while_a_module_falls_asleep_gets_an_answer(household: Household) -> None:
    idle = 0.05
    household.install("dozing", BODY, top=TOP, hooks=[{"event": "dozing.told"}], service={"idle_seconds": idle})
    lives: set[float] = set()
    told = itertools.count(1)
    asked = threading.Event()

    def ask(shift: float) -> None:
        with httpx2.Client(base_url=household.url, trust_env=False, timeout=30) as client, contextlib.suppress(_Enough):
            # Around the moment at which the idle time is over, from before it to after it.
            for step in itertools.cycle(range(24)):
                if asked.wait(idle * 0.6 + shift + step * idle / 20):
                    raise _Enough
                answer = client.get("/api/dozing/process")
                assert answer.status_code == 200, answer.text
                lives.add(answer.json()["started"])
                if step % 8 == 0:
                    answer = client.post("/api/dozing/tell")
                    assert answer.status_code == 204, answer.text
                    next(told)
                if len(lives) > 30:
                    asked.set()

    failures: list[BaseException] = []

    def guarded(shift: float) -> None:
        try:
            ask(shift)
        except BaseException as error:
            failures.append(error)
            asked.set()

    threads = [threading.Thread(target=guarded, args=(shift,)) for shift in (0.0, 0.013)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    assert not failures, failures
    assert len(lives) > 30
    count = next(told) - 1
    household.eventually("/api/dozing/heard", lambda value: value["heard"] == count, "every event arrived once")
    assert household.module("dozing")["unit"]["restarts"] == 0


class _Enough(Exception):
    """It fell asleep often enough."""
