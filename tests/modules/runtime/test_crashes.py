"""Modules that break: what the caller reads, and that everything else goes on."""

import json
import os
import signal

import httpx2
import psutil
import pytest

from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.waiting import still_running

pytestmark = pytest.mark.long

FRAGILE = """
@route("GET", "/die")
async def die(self):
    os._exit(3)

@route("GET", "/die-while-streaming")
async def die_while_streaming(self):
    yield {"number": 1}
    await asyncio.sleep(0)
    os._exit(3)

@route("GET", "/raise")
async def fail(self):
    raise RuntimeError("the password is hunter2")

@route("GET", "/fine")
async def fine(self):
    return {"fine": True}

@route("GET", "/fork")
async def fork(self):
    if os.fork() == 0:
        time.sleep(1000)
    return {"forked": True}
"""


@pytest.fixture(scope="module")
def fragile(shared_computer: ModuleComputer) -> ModuleComputer:
    """A computer with a module that breaks when asked to, and one that never does."""
    shared_computer.install_quietly("steady", '@route("GET", "/")\nasync def get(self):\n    return {"fine": True}\n')
    shared_computer.install("fragile", FRAGILE, top="import asyncio\nimport os\nimport time\n")
    return shared_computer


def test_a_module_that_dies_in_a_request(fragile: ModuleComputer) -> None:
    answer = fragile.get("/api/fragile/die")
    assert answer.status_code == 502
    assert str(fragile.home.logs / "module-fragile.log") in answer.json()["hint"]
    assert fragile.value("/api/health")
    assert fragile.value("/api/steady/") == {"fine": True}
    assert fragile.value("/api/fragile/fine") == {"fine": True}


def test_a_module_that_dies_within_an_answer(fragile: ModuleComputer) -> None:
    with httpx2.stream("GET", f"{fragile.url}/api/fragile/die-while-streaming", trust_env=False, timeout=60) as answer:
        lines = answer.iter_lines()
        assert json.loads(next(lines).removeprefix("data: ")) == {"number": 1}
        # An end before its time, or a reset, is the only way to say so once the status is sent.
        with pytest.raises(httpx2.TransportError):
            list(lines)
    assert fragile.value("/api/fragile/fine") == {"fine": True}


def test_an_exception_is_told_without_its_text(fragile: ModuleComputer) -> None:
    answer = fragile.get("/api/fragile/raise")
    assert answer.status_code == 500
    assert "hunter2" not in answer.text
    assert "hunter2" in (fragile.home.logs / "module-fragile.log").read_text()


def test_what_a_module_leaves_behind_ends_with_it(fragile: ModuleComputer) -> None:
    assert fragile.value("/api/fragile/fork") == {"forked": True}
    process = fragile.host_process("fragile")
    assert process is not None
    family = [child for child in fragile.processes() if child.pid == process or process in _parents(child)]
    assert len(family) > 1
    os.kill(process, signal.SIGKILL)
    assert not still_running(family)
    assert fragile.value("/api/fragile/fine") == {"fine": True}


def _parents(process: psutil.Process) -> set[int]:
    return {parent.pid for parent in process.parents()}


def test_a_module_that_never_starts_is_left_alone_until_it_is_mended(fragile: ModuleComputer) -> None:
    body = '@route("GET", "/")\nasync def get(self):\n    return {"mended": True}\n'
    fragile.install("broken", body, top='raise RuntimeError("no such luck")\n')
    for _ in range(5):
        answer = fragile.get("/api/broken/")
        assert answer.status_code == 502
        assert "no such luck" in answer.json()["detail"]
        assert "parachute logs module@broken" in answer.json()["hint"]

    def given_up() -> bool:
        # Requests that are quick enough share one start.
        assert fragile.get("/api/broken/").status_code == 502
        return bool(fragile.module("broken")["unit"]["state"] == "failed")

    fragile.wait_until(given_up, "it is given up")
    unit = fragile.module("broken")["unit"]
    assert "failed 5 times" in unit["reason"]
    log = fragile.home.logs / "module-broken.log"
    assert "no such luck" in log.read_text()
    size = log.stat().st_size
    answer = fragile.get("/api/broken/")
    assert answer.status_code == 502
    assert "failed 5 times" in answer.json()["detail"]
    assert log.stat().st_size == size
    assert fragile.value("/api/steady/") == {"fine": True}
    # Enabling it gives it another chance.
    assert fragile.post("/api/modules/broken/enable").json()["unit"]["state"] == "listening"
    fragile.edit("broken", 'raise RuntimeError("no such luck")', "")
    assert fragile.approve("broken").json()["state"] == "ready"
    assert fragile.value("/api/broken/") == {"mended": True}


def test_a_module_that_is_always_on_comes_back(fragile: ModuleComputer) -> None:
    body = '@route("GET", "/")\nasync def get(self):\n    return {"process": os.getpid()}\n'
    fragile.install("always", body, top="import os\n", service="always")
    fragile.wait_until(lambda: fragile.module("always")["unit"]["state"] == "running", "it runs without a request")
    first = fragile.host_process("always")
    assert first is not None
    os.kill(first, signal.SIGKILL)
    fragile.wait_until(lambda: fragile.host_process("always") not in (None, first), "it is started again")
    assert fragile.get("/api/always/").status_code == 200


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("says-nonsense", b"nonsense\r\n\r\n"),
        ("says-999", b"HTTP/1.1 999 Odd\r\ncontent-length: 2\r\n\r\n{}"),
        ("says-nothing", b""),
        ("says-101", b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n"),
        ("says-twice", b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\ncontent-length: 9\r\n\r\n"),
    ],
)
def test_a_module_that_answers_by_itself(fragile: ModuleComputer, name: str, answer: bytes) -> None:
    """A module holds its own listening socket, and may send anything on it."""
    # In a thread, since its own server accepts as well: whichever comes first answers.
    top = f"""
    import socket
    import threading

    ANSWER = {answer!r}

    def answer_all():
        listener = socket.socket(fileno=__import__("os").dup(3))
        listener.setblocking(True)
        while True:
            try:
                connection, _ = listener.accept()
            except BlockingIOError:
                continue
            connection.recv(65536)
            connection.sendall(ANSWER)
            connection.close()
    """
    body = """
    def on_start(self):
        threading.Thread(target=answer_all, daemon=True).start()
    """
    fragile.install(name, body, top=top)

    def odd() -> bool:
        got = fragile.get(f"/api/{name}/")
        assert got.status_code in (404, 502), got.text
        return got.status_code == 502

    fragile.wait_until(odd, "its own answer is seen")
    assert fragile.value("/api/health")
    fragile.ask("DELETE", f"/api/modules/{name}")
    assert fragile.host_process(name) is None
