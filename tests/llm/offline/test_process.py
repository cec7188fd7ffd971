"""The process around the model: its socket, its errors, its end. No model is needed here."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.llm.offline.activator import (
    MISSING_MODEL,
    OfflineModel,
    activated,
    question,
)
from tests.support.activation import DEADLINE, UnixConnection
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def offline() -> Iterator[OfflineModel]:
    with activated(model=MISSING_MODEL) as activator:
        yield activator


def test_without_a_model_it_says_which_command_installs_one(offline: OfflineModel) -> None:
    for document in (question("Hello"), question("Hello", stream=True)):
        answer = offline.post(document)
        assert answer.status == 503
        assert answer.document["type"] == "error"
        assert answer.document["error"]["type"] == "api_error"
        assert "pip install 'parachute-computer[offline]'" in answer.document["error"]["message"]
        assert answer.headers["x-should-retry"] == "false"
    health = offline.health()
    assert health["state"] == "unavailable"
    assert "pip install" in health["message"]
    assert health["rss_bytes"] > 1_000_000


def test_a_file_that_is_no_model_is_named(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="the package xllamacpp is not installed")
    file = tmp_path / "notes.gguf"
    file.write_text("These are notes.")
    with activated(model=str(file)) as offline:
        answer = offline.post(question("Hello"))
        assert answer.status == 503
        assert f"{file} is not a GGUF model file." in answer.document["error"]["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"model":"m","messages":"hello"}'])
@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/count_tokens?beta=true"])
def test_a_bad_body_gets_400(offline: OfflineModel, path: str, body: bytes) -> None:
    answer = offline.request("POST", path, body)
    assert (answer.status, answer.document["error"]["type"]) == (400, "invalid_request_error")


def test_a_huge_body_gets_413(offline: OfflineModel) -> None:
    answer = offline.request("POST", "/v1/messages", b" " * (32 * 1024 * 1024 + 1))
    assert (answer.status, answer.document["error"]["type"]) == (413, "request_too_large")
    assert offline.health()["rss_bytes"] < 300 * 1024 * 1024


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/"), ("GET", "/v1/messages"), ("DELETE", "/v1/models"), ("POST", "/v1/complete")]
)
def test_everything_else_gets_404(offline: OfflineModel, method: str, path: str) -> None:
    answer = offline.request(method, path)
    assert (answer.status, answer.document["error"]["type"]) == (404, "not_found_error")


def test_the_model_is_listed(offline: OfflineModel) -> None:
    answer = offline.request("GET", "/v1/models?limit=10")
    assert answer.document["data"][0]["id"] == answer.document["first_id"] == "model"
    assert answer.document["has_more"] is False


def test_it_ends_when_idle_and_the_next_connection_starts_it_again() -> None:
    with activated(model=MISSING_MODEL, idle_seconds="0.1") as offline:
        for round_number in (1, 2):
            assert offline.request("GET", "/v1/models").status == 200
            offline.wait_ended(round_number)
        assert offline.exits == [0, 0]
        assert offline.log == ""


def test_no_connection_is_lost_while_it_leaves() -> None:
    with activated(model=MISSING_MODEL, idle_seconds="0.1") as offline:
        early = UnixConnection(offline.path)
        early.connect()
        # The first answer takes as long as the start.
        assert offline.health()["state"] == "unavailable"
        first = offline.process
        assert first is not None
        wait_until(lambda: not _accepts(first.pid, offline.listener), "it stops accepting while a silent client waits")
        assert offline.exits == []
        late = UnixConnection(offline.path)
        late.request("GET", "/health")
        # The one that was accepted before is still answered, by the process that leaves.
        early.request("GET", "/v1/models")
        assert json.loads(early.getresponse().read())["data"]
        early.close()
        # The one that came too late is answered by the next process.
        assert json.loads(late.getresponse().read())["state"] == "unavailable"
        late.close()
        assert offline.exits[0] == 0
        assert offline.process is not first


def _accepts(process: int, listener: socket.socket) -> bool:
    """Return whether the event loop of a process waits for connections on a socket."""
    folder = Path(f"/proc/{process}/fd")
    opened = {int(each.name): str(each.readlink()) for each in folder.iterdir()}
    waits_for = {
        int(line.split()[1])
        for descriptor, kind in opened.items()
        if kind == "anon_inode:[eventpoll]"
        for line in folder.with_name("fdinfo").joinpath(str(descriptor)).read_text().splitlines()
        if line.startswith("tfd:")
    }
    inode = os.fstat(listener.fileno()).st_ino
    return any(opened.get(descriptor) == f"socket:[{inode}]" for descriptor in waits_for)


@pytest.mark.long
def test_every_request_around_the_end_is_answered() -> None:
    with activated(model=MISSING_MODEL, idle_seconds="0.1") as offline:
        # Each pause ends a little nearer to the moment at which the process leaves, and then after it.
        pause = 0.08
        while len(offline.exits) < 3:
            assert offline.request("GET", "/v1/models").status == 200
            with pytest.raises(TimeoutError):
                _sleep_on_a_socket(pause)
            pause += 0.004
        assert set(offline.exits) == {0}


def _sleep_on_a_socket(seconds: float) -> None:
    left, right = socket.socketpair()
    with left, right:
        left.settimeout(seconds)
        left.recv(1)


def test_a_signal_ends_it() -> None:
    with activated(model=MISSING_MODEL) as offline:
        for number, sent in enumerate((signal.SIGTERM, signal.SIGINT), 1):
            assert offline.health()
            assert offline.process is not None
            offline.process.send_signal(sent)
            offline.wait_ended(number)
        assert offline.exits == [0, 0]


def test_it_tells_its_supervisor_that_it_is_ready_and_alive() -> None:
    with activated(model=MISSING_MODEL) as offline, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifications:
        notifications.bind(str(offline.folder / "notify"))
        notifications.settimeout(DEADLINE)
        offline.environment |= {"NOTIFY_SOCKET": str(offline.folder / "notify"), "WATCHDOG_USEC": "100000"}
        assert offline.health()
        messages = [notifications.recv(100) for _ in range(4)]
        assert messages[0] == b"READY=1"
        assert messages.count(b"WATCHDOG=1") == 3


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"LISTEN_PID": "1"}, "LISTEN_PID"),
        ({"LISTEN_FDS": "2"}, "LISTEN_FDS"),
        ({"PARACHUTE_OFFLINE_IDLE_SECONDS": "never"}, "PARACHUTE_OFFLINE_IDLE_SECONDS"),
    ],
)
def test_a_wrong_start_is_refused(environment: dict[str, str], named: str) -> None:
    with activated() as offline:
        offline.environment |= environment
        process = offline.spawn(stderr=subprocess.PIPE)
        _, errors = process.communicate(timeout=DEADLINE)
        assert process.returncode == 2
        assert named in errors.decode()
        assert "Traceback" not in errors.decode()


def test_without_a_socket_it_refuses_to_start() -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "parachute.llm.offline"],
        env={"LISTEN_FDS": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=DEADLINE,
    )
    assert finished.returncode == 2
    assert b"Descriptor 3 is not" in finished.stderr
