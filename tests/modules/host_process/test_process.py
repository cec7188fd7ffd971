"""A module in its real process: starting, answering, leaving."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from msgspec import to_builtins

from parachute.base.errors import InvalidInput
from parachute.modules.host_process.client import CoreClient, CoreGone
from parachute.modules.host_process.starting import ask_to_start
from parachute.supervisor.specifications.host import HostSpecification, specification_path
from tests.modules.host_process.activator import LAUNCHER, HostedModule, hosted
from tests.modules.host_process.core import FakeCore
from tests.modules.host_process.prefork import PROGRAM
from tests.support.activation import DEADLINE, UnixConnection
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process

NOTES = '''
import asyncio
import os
from parachute.core import Module, Request, event, mcp_tool, route
from parachute.core.brain import brain

class Notes(Module):
    name = "notes"
    version = "1.0.0"

    async def on_enable(self):
        await self.core.storage.set("enabled", await self.core.storage.get("enabled", 0) + 1)

    async def on_start(self):
        await self.core.storage.set("started", await self.core.storage.get("started", 0) + 1)

    async def on_stop(self):
        await self.core.storage.set("stopped", await self.core.storage.get("stopped", 0) + 1)

    def on_disable(self):
        print("disabled", flush=True)

    @route("GET", "/counts")
    async def counts(self):
        return {name: await self.core.storage.get(name, 0) for name in ("enabled", "started", "stopped")}

    @route("GET", "/caller")
    async def caller(self, request: Request):
        return {"kind": request.caller.kind, "name": request.caller.name, "seen": "x-parachute-caller" in request.headers}

    @route("POST", "/size")
    async def size(self, body: bytes):
        return {"size": len(body)}

    @route("GET", "/ticks")
    async def ticks(self):
        try:
            yield {"tick": 0}
            await asyncio.Event().wait()
        finally:
            await self.core.storage.set("left", True)

    @route("GET", "/left")
    async def left(self):
        return {"left": await self.core.storage.get("left", False)}

    @route("GET", "/slow")
    async def slow(self):
        self.core.storage._path.with_name("slow").touch()
        while not self.core.storage._path.with_name("go").exists():
            await asyncio.sleep(0.01)
        return {"slow": True}

    @route("POST", "/ask")
    async def ask(self, message: str, stop_after: int = 100):
        count = 0
        async for value in self.core.query(message):
            yield value
            count += 1
            if count == stop_after:
                return

    @route("GET", "/brain")
    async def find(self):
        return {"found": await brain.search("Kevin")}

    @route("GET", "/settings")
    async def settings(self):
        return await self.core.settings.all()

    @mcp_tool("notes_echo")
    async def echo(self, text: str) -> str:
        """Echo."""
        return text

    @event("notes.written")
    async def written(self, title: str):
        await self.core.publish("notes.seen", {"title": title})
'''
MANIFEST = """\
name: notes
version: 1.0.0
module: module.py
optional_requires: [BrainInterface]
mcp_tools: [{name: notes_echo, description: Echo a text}]
hooks: [{event: notes.written}]
settings: {city: {type: string, default: Rome}, days: {type: integer}}
"""
ENTITY = {"para_id": "para:brain:a1b2c3d4e5f6", "name": "Kevin"}


@pytest.fixture(scope="module")
def notes():  # type: ignore[no-untyped-def]
    answers = {
        "/publish": {"id": "7"},
        "/query": [{"type": "text", "content": "a"}, {"type": "done"}],
        "/settings": {"settings": {"city": "Oslo", "unknown": 1}},
        "/interfaces": {"interfaces": {"BrainInterface": {"search": ["query", "type", "limit"]}}},
        "/interface": {"result": [ENTITY]},
    }
    with hosted("notes", NOTES, manifest=MANIFEST, answers=answers, program=LAUNCHER) as module:
        yield module


def test_answers_and_errors(notes: HostedModule) -> None:
    answer = notes.request(
        "GET", "/caller", headers={"X-Parachute-Caller": json.dumps({"kind": "key", "name": "phone"})}
    )
    assert answer.json() == {"kind": "key", "name": "phone", "seen": False}
    assert answer.headers["connection"] == "close"
    assert notes.get("/nothing").json()["detail"] == "There is nothing at /nothing."
    assert notes.request("DELETE", "/caller").headers["allow"] == "GET"
    assert notes.request("HEAD", "/caller").body == b""
    assert notes.request("POST", "/size", b"x" * (2 << 20)).json() == {"size": 2 << 20}
    assert notes.request("POST", "/size", b"x" * (32 * 1024 * 1024 + 1)).status == 413


def test_control_paths(notes: HostedModule) -> None:
    assert notes.get("/_parachute/health").json() == {"status": "ok", "name": "notes"}
    assert notes.post("/_parachute/tool", {"name": "notes_echo", "arguments": {"text": "ä"}}).json() == {"content": "ä"}
    for body, status, kind in (
        ({"name": "notes_echo", "arguments": {}}, 422, "InvalidInput"),
        ({"name": "nothing"}, 404, "NotFound"),
        ({"arguments": {}}, 422, "InvalidInput"),
        ([], 422, "InvalidInput"),
        (b"{", 400, "InvalidInput"),
    ):
        answer = notes.post("/_parachute/tool", body)
        assert (answer.status, answer.json()["error"]["type"]) == (status, kind)
    assert notes.post("/_parachute/nothing", {}).status == 404
    assert notes.post("/_parachute/interface", {"interface": "A", "method": "__init__"}).status == 404
    event = {"id": "1", "name": "notes.written", "data": {"title": "x"}, "timestamp": "2024-01-15T10:30:00Z"}
    assert notes.post("/_parachute/event", event).json() == {"handled": 1}
    assert ("POST", "/publish", {"name": "notes.seen", "data": {"title": "x"}}) in notes.core.asked
    assert notes.post("/_parachute/event", {**event, "data": {}}).json()["error"]["type"] == "InvalidInput"


def test_services_of_core(notes: HostedModule) -> None:
    assert notes.get("/settings").json() == {"city": "Oslo", "days": None}
    assert notes.post("/ask", {"message": "x"}).events()[-1] == {"type": "done"}
    found = notes.get("/brain").json()["found"]
    assert (found[0]["name"], found[0]["para_id"], found[0]["aliases"]) == ("Kevin", "para:brain:a1b2c3d4e5f6", [])
    notes.core.answers["/interface"] = {"error": {"type": "Conflict", "message": "Not now.", "hint": "Later."}}
    assert notes.get("/brain").status == 409
    notes.core.answers["/interface"] = {"error": {"type": "os.system", "message": "x"}}
    assert notes.get("/brain").status == 502
    notes.core.answers["/interface"] = {"result": "nonsense"}
    assert "does not allow" in notes.get("/brain").json()["detail"]
    notes.core.answers["/interface"] = {"result": [ENTITY]}


def test_leaving_a_query_early_ends_it_at_core(notes: HostedModule) -> None:
    before = notes.core.answers["/query"]
    notes.core.answers["/query"] = [{"n": 1}, "wait"]
    assert notes.post("/ask", {"message": "x", "stop_after": 1}).events() == [{"n": 1}]
    assert notes.core.gone.wait(DEADLINE)
    notes.core.answers["/query"] = before


def test_a_client_that_leaves_ends_the_stream(notes: HostedModule) -> None:
    connection = UnixConnection(notes.path)
    connection.request("GET", "/ticks")
    response = connection.getresponse()
    assert response.readline() == b'data: {"tick":0}\n'
    response.close()
    connection.close()
    wait_until(lambda: notes.get("/left").json()["left"], "the stream ends")


def test_it_is_small(notes: HostedModule) -> None:
    assert notes.get("/_parachute/health").status == 200
    assert notes.process is not None
    text = Path(f"/proc/{notes.process.pid}/smaps_rollup").read_text()
    pss = next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    assert pss < 40 * 1024


def test_it_ends_when_idle_and_the_next_request_starts_it_again() -> None:
    with hosted("notes", NOTES, manifest=MANIFEST, idle_seconds=0.1) as notes:
        for number in (1, 2):
            counts = notes.get("/counts").json()
            # Enabled once, started each time, and stopped properly in between.
            assert counts == {"enabled": 1, "started": number, "stopped": number - 1}

            def has_ended(number: int = number) -> bool:
                return len(notes.exits) == number

            wait_until(has_ended, "the idle process ends")
        assert notes.exits == [0, 0]


def test_every_request_around_the_end_is_answered() -> None:
    with hosted("notes", NOTES, manifest=MANIFEST, idle_seconds=0.05) as notes:
        pause = 0.04
        while len(notes.exits) < 4:
            assert notes.get("/left").status == 200
            left, right = socket.socketpair()
            with left, right:
                left.settimeout(pause)
                with pytest.raises(TimeoutError):
                    left.recv(1)
            pause += 0.004
        assert set(notes.exits) == {0}


def test_a_running_request_is_finished_before_it_leaves() -> None:
    with hosted("notes", NOTES, manifest=MANIFEST, idle_seconds=0.05) as notes:
        answers = []
        asking = threading.Thread(target=lambda: answers.append(notes.get("/slow")))
        asking.start()
        data = Path(notes.specification.data)
        wait_until((data / "slow").exists, "the request runs")
        assert notes.process is not None
        notes.process.send_signal(signal.SIGTERM)
        (data / "go").touch()
        asking.join(DEADLINE)
        assert answers[0].json() == {"slow": True}
        wait_until(lambda: notes.exits == [0], "the process ends")


def test_the_life_cycle_follows_what_core_says() -> None:
    with hosted("notes", NOTES, manifest=MANIFEST) as notes:
        assert notes.get("/counts").json()["enabled"] == 1
        assert notes.post("/_parachute/lifecycle", {"step": "disable"}).json() == {"done": "disable"}
        assert "disabled" in notes.log
        assert notes.post("/_parachute/lifecycle", {"step": "enable"}).json() == {"done": "enable"}
        assert notes.get("/counts").json()["enabled"] == 2
        assert notes.post("/_parachute/lifecycle", {"step": "on_start"}).status == 422


def test_it_tells_its_supervisor_that_it_is_ready_and_alive() -> None:
    with (
        hosted("notes", NOTES, manifest=MANIFEST) as notes,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifications,
    ):
        notifications.bind(str(notes.folder / "notify"))
        notifications.settimeout(DEADLINE)
        notes.environment |= {"NOTIFY_SOCKET": str(notes.folder / "notify"), "WATCHDOG_USEC": "100000"}
        assert notes.get("/left").status == 200
        messages = [notifications.recv(100) for _ in range(4)]
        assert messages[0] == b"READY=1"
        assert messages.count(b"WATCHDOG=1") == 3


def test_core_that_is_down_is_told_and_not_fatal() -> None:
    with hosted("notes", NOTES, manifest=MANIFEST) as notes:
        assert notes.get("/left").status == 200
        notes.core.close()
        Path(notes.specification.core_socket).unlink()
        assert notes.get("/left").status == 200
        answer = notes.get("/settings")
        assert (answer.status, answer.json()["detail"]) == (503, "Core does not answer; it may be restarting.")
        notes.core = FakeCore(Path(notes.specification.core_socket))
        assert notes.get("/settings").status == 200


async def test_a_core_that_restarts_is_waited_for_but_not_for_ever() -> None:
    with hosted("notes", NOTES, manifest=MANIFEST) as notes:
        notes.core.close()
        socket_path = Path(notes.specification.core_socket)
        socket_path.unlink()
        core = CoreClient(socket_path)
        with pytest.raises(CoreGone):
            await ask_to_start(notes.specification, core, patience=0.2)
        asking = asyncio.create_task(ask_to_start(notes.specification, core, patience=DEADLINE))
        waiting, _ = await asyncio.wait({asking}, timeout=0.2)
        assert not waiting
        notes.core = FakeCore(socket_path)
        await asking
        assert [path for _, path, _ in notes.core.asked] == ["/start"]


def test_core_can_keep_a_module_from_starting() -> None:
    refusal = {"error": {"type": "Conflict", "message": "It waits for your approval."}}
    with hosted("notes", NOTES, manifest=MANIFEST, answers={"/start": refusal}) as notes:
        assert "It waits for your approval." in notes.failure()
        [(_, _, asked)] = [each for each in notes.core.asked if each[1] == "/start"]
        assert asked == {"hash": notes.specification.hash, "folders": {}}


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "other"}, "belongs to another module"),
        ({"hash": "sha256:0"}, "hash:"),
        ({"code": "relative"}, "code: 'relative' is not an absolute path"),
        ({"read": ["/etc"]}, "read: /etc does not lie in the vault"),
        ({"memory": True}, r"\$\.memory"),
        ({"trust": "mine"}, r"\$\.trust"),
        ({"extra": 1}, "extra"),
        ({"idle_seconds": -1}, "idle_seconds"),
    ],
)
def test_a_wrong_specification_is_refused(
    notes: HostedModule, tmp_path: Path, change: dict[str, object], said: str
) -> None:
    path = specification_path("notes", tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({**to_builtins(notes.specification), **change}))
    with pytest.raises(InvalidInput, match=said):
        HostSpecification.load("notes", tmp_path)


@pytest.mark.parametrize("name", ["../notes", "", "Notes", "nothing"])
def test_a_wrong_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput):
        HostSpecification.load(name, tmp_path)


@pytest.mark.parametrize("program", [PROGRAM, LAUNCHER])
def test_a_process_that_is_started_wrongly_ends_with_a_sentence(program: str) -> None:
    ended = subprocess.run([sys.executable, "-m", program, "../notes"], capture_output=True)
    assert ended.returncode == 2
    assert ended.stderr
    assert b"Traceback" not in ended.stderr
