"""Installed, enabled, disabled, removed; and core that comes and goes while modules run."""

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import psutil
import pytest

from parachute.modules.registry.models import State
from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.installation import PLAIN
from tests.support.waiting import still_running

pytestmark = pytest.mark.long

COUNTING = """
async def note(self, what: str):
    await self.core.storage.set(what, await self.core.storage.get(what, 0) + 1)

async def on_enable(self):
    await self.note("enabled")

async def on_start(self):
    await self.note("started")

async def on_stop(self):
    await self.note("stopped")

async def on_disable(self):
    await self.note("disabled")

@route("GET", "/counts")
async def counts(self):
    return {name: await self.core.storage.get(name) for name in await self.core.storage.keys()}
"""
BUSY = """
@route("GET", "/busy")
async def busy(self):
    await self.core.publish("busy.began", {})
    await asyncio.to_thread(lambda: Path("go").open().readline())
    return {"done": True}

@route("GET", "/began")
async def began(self):
    return {"began": await self.core.storage.get("began", False)}

@event("busy.began")
async def on_began(self):
    await self.core.storage.set("began", True)
"""


def test_whoever_asks_while_a_module_is_put_up_waits_for_it(shared_computer: ModuleComputer) -> None:
    shared_computer.install("awaited", COUNTING)
    shared_computer.post("/api/modules/awaited/disable")
    supervisor = shared_computer.processes()[0]
    with ThreadPoolExecutor(40) as threads:
        supervisor.suspend()
        try:
            enabling = threads.submit(shared_computer.post, "/api/modules/awaited/enable")
            shared_computer.wait_until(
                lambda: shared_computer.modules.status("awaited").state is State.READY, "it is enabled"
            )
            asking = []
            for _ in range(30):
                shared_computer.value("/api/health")
                asking.append(threads.submit(shared_computer.get, "/api/awaited/counts"))
        finally:
            supervisor.resume()
        assert enabling.result().status_code == 200
        assert {each.result().status_code for each in asking} == {200}


def test_calls_of_the_life_cycle(shared_computer: ModuleComputer) -> None:
    shared_computer.install("counting", COUNTING)
    assert shared_computer.value("/api/counting/counts") == {"enabled": 1, "started": 1}
    shared_computer.put_to_sleep("counting")
    assert shared_computer.value("/api/counting/counts") == {"enabled": 1, "started": 2, "stopped": 1}
    shared_computer.post("/api/modules/counting/disable")
    answer = shared_computer.get("/api/counting/counts")
    assert (answer.status_code, answer.json()["key"]) == (409, "module_disabled")
    assert shared_computer.host_process("counting") is None
    shared_computer.post("/api/modules/counting/enable")
    assert shared_computer.value("/api/counting/counts") == {"enabled": 2, "started": 3, "stopped": 2, "disabled": 1}
    # What is asleep is woken, to be told.
    shared_computer.put_to_sleep("counting")
    shared_computer.ask("DELETE", "/api/modules/counting")
    shared_computer.install("counting", COUNTING)
    seen = shared_computer.value("/api/counting/counts")
    assert (seen["disabled"], seen["enabled"]) == (2, 3)
    # A new version is enabled as well, and nobody disabled the old one.
    shared_computer.edit("counting", '"stopped"', '"ended"')
    shared_computer.approve("counting")
    seen = shared_computer.value("/api/counting/counts")
    assert (seen["disabled"], seen["enabled"]) == (2, 4)
    shared_computer.ask("DELETE", "/api/modules/counting?purge=true")
    shared_computer.install("counting", COUNTING)
    assert shared_computer.value("/api/counting/counts") == {"enabled": 1, "started": 1}


def test_why_a_module_does_not_start_is_said_in_its_own_words(shared_computer: ModuleComputer) -> None:
    shared_computer.install("broken", "", top="raise ValueError('there is no such word')\n")
    assert "there is no such word" in shared_computer.get("/api/broken/").json()["detail"]
    assert "there is no such word" in shared_computer.module("broken")["unit"]["reason"]
    said = shared_computer.command("modules", "status", "broken")
    assert "there is no such word" in said.stdout, said.stderr
    # As soon as it is mended and starts, nothing says so any more.
    shared_computer.edit("broken", "raise ValueError", "str")
    assert shared_computer.approve("broken").status_code == 200
    assert shared_computer.get("/api/broken/").status_code == 404
    assert shared_computer.module("broken")["unit"]["reason"] is None


def test_a_module_that_is_removed_while_it_works_leaves_nothing(shared_computer: ModuleComputer) -> None:
    shared_computer.install(
        "busy", BUSY, top="import asyncio\nfrom pathlib import Path\n", hooks=[{"event": "busy.began"}]
    )
    pipe = shared_computer.home.root / "module-data" / "busy" / "go"
    os.mkfifo(pipe)
    working = ThreadPoolExecutor(2)
    request = working.submit(shared_computer.get, "/api/busy/busy")
    # The pipe can be opened for writing once the request reads from it.
    go = pipe.open("wb", buffering=0)
    host = shared_computer.host_process("busy")
    assert host is not None
    family = [psutil.Process(host), *psutil.Process(host).children(recursive=True)]
    removing = working.submit(shared_computer.ask, "DELETE", "/api/modules/busy?purge=true")
    shared_computer.wait_until(lambda: shared_computer.unit_state("busy") == "stopping", "it is told to end")
    with go:
        go.write(b"\n")
        answer = request.result()
    removed = removing.result()
    working.shutdown()
    assert (answer.status_code, answer.json()) == (200, {"done": True})
    assert removed.json() == {"success": True}
    assert not still_running(family)
    assert not (shared_computer.home.run / "module" / "busy").exists()
    assert not (shared_computer.home.root / "module-data" / "busy").exists()
    assert not (shared_computer.home.root / "modules" / "busy").exists()
    assert not list(shared_computer.home.run.glob("*busy*"))
    assert "busy" not in subscribers(shared_computer)
    assert shared_computer.get("/api/busy/busy").status_code == 404


def subscribers(computer: ModuleComputer) -> set[str]:
    """The modules for which events are kept."""
    events = f"file:{computer.vault}/.parachute/events.db?mode=ro"
    with contextlib.closing(sqlite3.connect(events, uri=True)) as database:
        return {row[0] for row in database.execute("SELECT subscriber FROM subscriptions WHERE kind = 'module'")}


def test_no_event_waits_for_a_module_that_was_removed_before_it_was_approved(shared_computer: ModuleComputer) -> None:
    shared_computer.install("unseen", BUSY, top="import asyncio\n", hooks=[{"event": "busy.began"}])
    assert "unseen" in subscribers(shared_computer)
    shared_computer.edit("unseen", "Tested", "Changed")
    shared_computer.put_to_sleep("unseen")
    assert shared_computer.get("/api/unseen/began").status_code == 409
    # It may be approved yet.
    assert "unseen" in subscribers(shared_computer)
    shared_computer.ask("DELETE", "/api/modules/unseen")
    assert "unseen" not in subscribers(shared_computer)


def test_many_changes_at_once_leave_one_module_in_one_state(shared_computer: ModuleComputer) -> None:
    shared_computer.install("switched", '@route("GET", "/")\nasync def get(self):\n    return {"fine": True}\n')
    steps = ["disable", "enable", "reload"] * 6

    def change(step: str) -> None:
        path = "/api/modules/reload" if step == "reload" else f"/api/modules/switched/{step}"
        seen.append(shared_computer.post(path).status_code)
        seen.append(shared_computer.get("/api/switched/").status_code)

    seen: list[int] = []
    threads = [threading.Thread(target=change, args=(step,)) for step in steps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 2 * len(steps)
    # A request that met the end of the process may be a clean 502.
    assert set(seen) <= {200, 409, 502}, seen
    shared_computer.post("/api/modules/switched/enable")
    assert shared_computer.value("/api/switched/") == {"fine": True}


@pytest.fixture
def alone() -> Iterator[ModuleComputer]:
    """A computer whose core is killed."""
    with ModuleComputer() as running:
        yield running


@pytest.mark.computer
def test_a_module_outlives_core(alone: ModuleComputer) -> None:
    body = """
    @route("GET", "/process")
    async def process(self):
        return {"process": os.getpid(), "started": STARTED}

    @route("POST", "/tell/{number}")
    async def tell(self, number: int):
        await self.core.publish("lasting.told", {"number": number})

    @route("GET", "/heard")
    async def heard(self):
        return {"heard": await self.core.storage.keys("told/")}

    @event("lasting.told")
    async def on_told(self, number: int):
        if number == 1:
            await self.core.storage.set("begun", True)
            await GO.wait()
        await self.core.storage.set(f"told/{number}", True)

    @route("GET", "/begun")
    async def begun(self):
        return {"begun": await self.core.storage.get("begun", False)}

    @route("POST", "/go")
    async def go(self):
        GO.set()
    """
    top = "import asyncio\nimport os\nimport time\nSTARTED = time.time()\nGO = asyncio.Event()\n"
    alone.install_quietly("quiet", COUNTING)
    alone.install("lasting", body, top=top, hooks=[{"event": "lasting.told"}])
    before = alone.value("/api/lasting/process")
    host = alone.host_process("lasting")
    for number in (1, 2, 3):
        alone.post(f"/api/lasting/tell/{number}")
    alone.eventually("/api/lasting/begun", lambda value: value["begun"], "the first event is being taken")
    alone.kill_core()
    assert alone.value("/api/lasting/process") == before
    assert alone.host_process("lasting") == host
    assert alone.value("/api/lasting/heard") == {"heard": []}
    alone.post("/api/lasting/go")
    alone.eventually("/api/lasting/heard", lambda value: len(value["heard"]) == 3, "all events arrive")
    units = {unit["name"]: unit["state"] for unit in alone.ask_supervisor("status")["units"]}
    assert units["module@lasting"] == "running"
    assert units["module@quiet"] == "listening"
    # It also reaches the new core.
    assert alone.post("/api/lasting/tell/4").status_code == 204
    alone.eventually("/api/lasting/heard", lambda value: len(value["heard"]) == 4, "a new event arrives")


@pytest.mark.computer
def test_what_changed_while_core_was_away_holds_afterwards(alone: ModuleComputer) -> None:
    body = '@route("GET", "/")\nasync def get(self):\n    return {"word": "first"}\n'
    listening = '\n@event("others.said")\nasync def on_said(self):\n    pass\n'
    for name in ("kept", "gone", "off", "edited"):
        alone.install_quietly(name, body + listening, hooks=[{"event": "others.said"}])
    alone.reload()
    assert subscribers(alone) == {"kept", "gone", "off", "edited"}
    for name in ("kept", "gone", "off", "edited"):
        assert alone.value(f"/api/{name}/") == {"word": "first"}
    with alone.modules.removing("gone"):
        pass
    alone.modules.disable("off")
    alone.edit("edited", "first", "second")
    with alone.modules.approving("edited") as installation:
        installation.finish()
    alone.kill_core()
    assert alone.value("/api/kept/") == {"word": "first"}
    assert alone.get("/api/gone/").status_code == 404
    assert alone.get("/api/off/").status_code == 409
    assert alone.value("/api/edited/") == {"word": "second"}
    alone.wait_until(lambda: alone.host_process("gone") is None, "what was removed has ended")
    assert alone.host_process("off") is None
    assert subscribers(alone) == {"kept", "edited"}
    assert {path.name for path in (alone.home.run / "module").iterdir()} == {"kept", "edited"}


@pytest.mark.computer
def test_twenty_modules_cost_nothing_until_they_are_used(alone: ModuleComputer) -> None:
    body = '@route("GET", "/")\nasync def get(self):\n    return {"fine": True}\n'
    names = [f"many-{number}" for number in range(20)]
    for name in names:
        alone.install_quietly(name, body)
    alone.reload()
    assert alone.value("/api/many-7/") == {"fine": True}
    assert [name for name in names if alone.host_process(name) is not None] == ["many-7"]
    alone.stop()
    alone.start()
    with httpx2.Client(base_url=alone.url, **PLAIN, timeout=60) as client:
        # Whoever asks before the units are open waits for that, and for nothing else.
        assert client.get("/api/health").status_code == 200
        assert client.get("/api/many-19/").json() == {"fine": True}
        listed = client.get("/api/modules").json()["modules"]
    states = {found["name"]: found["unit"]["state"] for found in listed}
    assert states == {name: "running" if name == "many-19" else "listening" for name in names}
