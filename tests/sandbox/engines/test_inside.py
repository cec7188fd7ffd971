"""Asking a runner for a look: it ends nobody, whatever is asked."""

import json
import socket
import struct
from pathlib import Path

import pytest

from parachute.sandbox.engines.inspection.inside import inspect
from tests.sandbox.engines.conftest import SandboxFactory, needs_bubblewrap
from tests.support.errors import raises

pytestmark = [needs_bubblewrap, pytest.mark.process]

INSPECTION = struct.pack("!I", 0)


def asked(path: Path, request: bytes) -> tuple[bytes, bytes]:
    """Kind and payload of the first answer."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(str(path))
        connection.sendall(INSPECTION + struct.pack("!I", len(request)) + request)
        connection.shutdown(socket.SHUT_WR)
        answer = connection.makefile("rb")
        kind, length = struct.unpack("!cI", answer.read(5))
        return kind, answer.read(length)


async def test_whoever_only_looks_or_says_nothing_ends_no_agent(sandboxes: SandboxFactory) -> None:
    sandbox = await sandboxes.make()
    with sandbox.start("cat") as agent, socket.socket(socket.AF_UNIX) as silent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        agent.stdin.write(b"up\n")
        agent.stdin.flush()
        assert agent.stdout.readline() == b"up\n"
        silent.connect(str(sandbox.socket))
        request = {"paths": ["/tmp"], "read": [], "connect": [], "resolve": []}
        kind, payload = asked(sandbox.socket, json.dumps(request).encode())
        assert (kind, json.loads(payload)["writes"]["/tmp"]) == (b"o", "done")
        for unreadable in (b"", b"{", b"[]", b"{}", b'{"paths": 1}', b"[" * 100_000):
            kind, payload = asked(sandbox.socket, unreadable)
            assert kind == b"e", payload
        output, _ = agent.communicate(b"still there")
        assert output == b"still there"


async def test_the_process_that_answers_is_known_by_the_kernel(sandboxes: SandboxFactory) -> None:
    sandbox = await sandboxes.make()
    seen, process = inspect(sandbox.socket, ["/"], [])
    runner = (await sandboxes.launcher.unit(sandbox.unit))["process"]
    assert process.namespaces == {name: seen.namespaces[name] for name in process.namespaces}
    children = Path(f"/proc/{runner}/task/{runner}/children").read_text().split()
    assert process.parent in map(int, children), "it is the runner's child, and that is bubblewrap's"
    assert "net" not in process.shared


def test_a_sandbox_that_cannot_be_reached_is_said(short_folder: Path) -> None:
    with raises("sandbox_not_asked"):
        inspect(short_folder / "agent.sock", [], [])
