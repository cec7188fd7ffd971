"""Messages between the SDK's side and an agent's program, in both engines."""

import asyncio
import dataclasses
import hashlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.engines.conftest import SandboxFactory, SharedLauncher, direct, needs_bubblewrap
from tests.sandbox.engines.sandboxes import RUNNER, Sandbox, marker
from tests.supervisor.launching import with_argument
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process


@pytest.fixture(scope="module", params=["direct", pytest.param("bubblewrap", marks=needs_bubblewrap)])
def engine(request: pytest.FixtureRequest, shared_launcher: SharedLauncher) -> Iterator[Sandbox]:
    """A runner in each engine, which outlives whatever its agents do."""
    running = shared_launcher.take()
    if request.param == "direct":
        yield asyncio.run(direct(running))
    else:
        yield asyncio.run(SandboxFactory(running).make())
    shared_launcher.tidy()


@pytest.fixture
def sandbox(engine: Sandbox) -> Sandbox:
    """The same runner, with a directory and an environment of the test's own."""
    return dataclasses.replace(engine, environment={})


async def test_every_byte_passes_unchanged_in_lines_of_any_length(sandbox: Sandbox) -> None:
    data = bytes(range(256)) * 4096 + b"x" * (16 << 20) + b"\n"
    done = sandbox.run("cat", data=data)
    assert (done.returncode, done.stderr, done.stdout == data) == (0, b"", True)


async def test_a_slow_reader_loses_nothing(sandbox: Sandbox) -> None:
    with sandbox.start("seq", "1", "300000") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        digest = hashlib.sha256()
        while data := os.read(process.stdout.fileno(), 1000):
            digest.update(data)
        assert process.wait(60) == 0
    expected = "".join(f"{number}\n" for number in range(1, 300001)).encode()
    assert digest.hexdigest() == hashlib.sha256(expected).hexdigest()


async def test_the_end_of_input_reaches_the_agent_and_it_may_still_write(sandbox: Sandbox) -> None:
    done = sandbox.run("sh", "-c", "cat >/dev/null; sleep 0.2; echo flushed; exit 4", data=b"input")
    assert (done.stdout, done.returncode) == (b"flushed\n", 4)


@pytest.mark.long
async def test_an_agent_that_ignores_the_end_of_its_input_is_ended(sandbox: Sandbox) -> None:
    """After five seconds, as long as the SDK waits; not earlier than its own last words."""
    mark = marker()
    done = sandbox.run("sh", "-c", f"cat; sleep 0.5; echo still here; sleep {mark}", data=b"")
    assert (done.stdout, done.returncode) == (b"still here\n", 128 + signal.SIGKILL)
    assert not with_argument(mark)


async def test_the_exit_status_is_reported_and_a_signal_as_a_shell_does(sandbox: Sandbox) -> None:
    for code in (0, 1, 255):
        assert sandbox.run("sh", "-c", f"exit {code}").returncode == code
    for number in (signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL):
        assert sandbox.run("sh", "-c", f"kill -{number.value} $$").returncode == 128 + number


async def test_a_flood_of_errors_neither_blocks_nor_fills_memory(sandbox: Sandbox) -> None:
    done = sandbox.run("sh", "-c", "head -c 20000000 /dev/zero >&2; echo through")
    assert (done.stdout, done.returncode) == (b"through\n", 0)
    assert 0 < len(done.stderr) <= 256 * 1024


async def test_an_agent_that_reads_nothing_can_end(sandbox: Sandbox) -> None:
    assert sandbox.run("sh", "-c", "exit 3", data=b"x" * (10 << 20)).returncode == 3


async def test_an_agent_that_closes_its_input_goes_on(sandbox: Sandbox) -> None:
    done = sandbox.run("sh", "-c", "exec <&-; sleep 0.2; echo on", data=b"x" * (10 << 20))
    assert (done.stdout, done.returncode) == (b"on\n", 0)


async def test_nothing_survives_the_connection(sandbox: Sandbox) -> None:
    mark = marker()
    script = f"""
        setsid sleep {mark} & nohup sleep {mark} >/dev/null 2>&1 &
        (sh -c "sleep {mark} &" &)
        (setsid sh -c "trap '' TERM HUP; setsid sleep {mark} & sleep {mark}" &)
        sleep {mark}"""
    with sandbox.start("sh", "-c", script) as process:
        wait_until(lambda: len(with_argument(f"sleep\0{mark}")) >= 6, "all of it has started")
        process.kill()
        process.communicate()
    wait_until(lambda: not with_argument(mark), "all of it is gone")
    assert sandbox.shell("echo again") == "again\n"


async def test_orphans_that_hold_the_pipes_end_with_the_agent(sandbox: Sandbox) -> None:
    mark = marker()
    done = sandbox.run("sh", "-c", f"setsid sleep {mark} & echo answer; exit 5")
    assert (done.stdout, done.returncode) == (b"answer\n", 5)
    assert not with_argument(mark)


async def test_a_peer_that_is_killed_with_unread_answers_takes_the_agent_with_it(sandbox: Sandbox) -> None:
    mark = marker()
    with sandbox.start("sh", "-c", f"echo started; yes & sleep {mark}") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        process.kill()
        process.communicate()
    wait_until(lambda: not with_argument(mark), "the agent is gone")


async def test_a_peer_that_is_killed_while_the_agent_reads_nothing_takes_it_along(sandbox: Sandbox) -> None:
    mark = marker()
    with sandbox.start("sh", "-c", f"echo started; sleep {mark}") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        os.set_blocking(process.stdin.fileno(), False)
        # More than the pipe to the agent holds, so that the keeper waits to write.
        wait_until(lambda: _fill(process.stdin.fileno()), "the way to the agent is full")  # type: ignore[union-attr]
        process.kill()
        process.communicate()
    wait_until(lambda: not with_argument(mark), "the agent is gone")


async def test_a_killed_keeper_leaves_nothing(sandbox: Sandbox) -> None:
    mark = marker()
    with sandbox.start(
        "sh", "-c", f"setsid sleep {mark} & (setsid sleep {mark} &); echo started; sleep {mark}"
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        agent = next(found for found in with_argument(f"echo started; sleep {mark}") if found.name() == "sh")
        keeper = agent.parent()
        assert keeper is not None
        assert "runner" in " ".join(keeper.cmdline())
        keeper.kill()
        process.communicate()
        assert process.returncode == 70
    wait_until(lambda: not with_argument(mark), "all of it is gone")
    assert sandbox.shell("echo again") == "again\n"


async def test_a_program_that_does_not_exist_is_said(sandbox: Sandbox) -> None:
    done = sandbox.run("/does/not/exist")
    assert done.returncode == 127
    assert b"/does/not/exist" in done.stderr


async def test_a_working_directory_that_does_not_exist_is_said(sandbox: Sandbox) -> None:
    sandbox.directory = "/nowhere"
    done = sandbox.run("true")
    assert done.returncode == 127
    assert b"/nowhere" in done.stderr


async def test_private_arguments_travel_as_files(sandbox: Sandbox, tmp_path: Path) -> None:
    secret = f"private-{marker()}"
    prompt, servers = tmp_path / "prompt.md", tmp_path / "servers.json"
    prompt.write_text(f"{secret} grüße")
    servers.write_text(json.dumps({"mcpServers": {"a": secret}}))
    script = 'cat "$2"; echo; cat "$4"; echo; stat -c %a "$2"; cat'
    options = ["--system-prompt-file", str(prompt), "--mcp-config", str(servers)]
    with sandbox.start("sh", "-c", script, "agent", *options) as process:
        assert process.stdout is not None
        assert process.stdout.readline().decode() == f"{secret} grüße\n"
        assert json.loads(process.stdout.readline()) == {"mcpServers": {"a": secret}}
        assert not with_argument(secret)
        assert process.stdin is not None
        process.stdin.close()
        assert process.stdout.read() in (b"600\n", b"644\n")  # in a folder that only its owner may enter


async def test_an_inline_configuration_shows_on_no_command_line_of_the_agent(sandbox: Sandbox) -> None:
    secret = f"private-{marker()}"
    text = json.dumps({"mcpServers": {"a": secret}})
    with sandbox.start("sh", "-c", 'cat "$2"; echo; cat', "agent", "--mcp-config", text) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()) == json.loads(text)
        # The SDK starts the wrapper with it; nothing else may show it.
        assert [found.pid for found in with_argument(secret)] == [process.pid]
        process.communicate()


async def test_only_listed_variables_pass(sandbox: Sandbox) -> None:
    sandbox.environment = {"ANTHROPIC_API_KEY": "placeholder", "SECRET": "host", "LD_PRELOAD": "", "HTTP_PROXY": "x"}
    found = sandbox.shell("env")
    assert "ANTHROPIC_API_KEY=placeholder" in found
    for name in ("SECRET", "LD_PRELOAD", "HTTP_PROXY", "OUTSIDE", "PARACHUTE", "LISTEN", "NOTIFY"):
        assert name not in found


def _exchange(path: Path, sent: bytes) -> tuple[bytes, int | None]:
    """All that the runner answers to raw bytes: what it says, and the exit status it reports."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(str(path))
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while data := connection.recv(65536):
            received += data
    said, status = b"", None
    while received:
        kind, length = struct.unpack("!cI", received[:5])
        payload, received = received[5 : 5 + length], received[5 + length :]
        if kind == b"x":
            status = int(payload)
        else:
            said += payload
    return said, status


def _header(**fields: object) -> bytes:
    value = {"arguments": ["env"], "environment": {}, "directory": "/", "files": {}, **fields}
    body = json.dumps(value).encode()
    return struct.pack("!I", len(body)) + body


async def test_the_runner_too_drops_variables_that_are_not_listed(sandbox: Sandbox) -> None:
    said, status = _exchange(sandbox.socket, _header(environment={"LD_PRELOAD": "evil", "TZ": "UTC"}))
    assert status == 0
    assert b"TZ=UTC" in said
    assert b"evil" not in said


_UNREADABLE = [
    b"",
    b"\0\0",
    struct.pack("!I", 17 * 1024 * 1024),
    struct.pack("!I", 0xFFFFFFFF),
    struct.pack("!I", 5) + b"{oops",
    struct.pack("!I", 4) + b"[[]]",
    struct.pack("!I", 200_000) + b"[" * 200_000,
    struct.pack("!I", 100) + b"{}",
    _header(arguments=[], files={"0": "text"}),
    _header(files={"7": "text"}),
    _header(files={"-1": "text"}),
    _header(files=[]),
    _header(environment=None),
    _header(arguments=["env", "a\0b"]),
    _header(directory="a\0b"),
    _header(environment={"TZ": "\0"}),
    _header(arguments=["env", "\ud800"]),
]


async def test_a_header_that_cannot_be_read_is_refused_and_the_runner_lives_on(sandbox: Sandbox) -> None:
    for sent in _UNREADABLE:
        said, status = _exchange(sandbox.socket, sent)
        assert status == 127, (sent, said)
        assert b"could not be started" in said
    assert _exchange(sandbox.socket, _header(arguments=["echo", "well"])) == (b"well\n", 0)


def test_the_runner_refuses_to_start_without_a_socket() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "LISTEN_FDS"}
    done = subprocess.run(
        [sys.executable, "-IS", str(RUNNER), "--", "true"], env=environment, capture_output=True, timeout=60
    )
    assert done.returncode != 0
    assert b"LISTEN_FDS" in done.stderr


@pytest.mark.parametrize(
    "frames",
    [
        b"?\0\0\0\1x",
        b"x\0\0\0\3abc",
        struct.pack("!cI", b"o", 0xFFFFFFFF),
        b"o\0\0\0\5ab",
    ],
)
def test_the_wrapper_believes_no_frame_that_cannot_be(short_folder: Path, frames: bytes) -> None:
    path = short_folder / "agent.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(60)
        sandbox = Sandbox(path, "/", None, "")  # type: ignore[arg-type]
        with sandbox.start("any") as process:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(frames)
                connection.shutdown(socket.SHUT_WR)
                _, errors = process.communicate(timeout=60)
            assert process.returncode == 70
            assert errors.count(b"\n") == 1


def test_the_wrapper_says_when_nobody_answers(short_folder: Path) -> None:
    done = Sandbox(short_folder / "agent.sock", "/", None, "").run("any")  # type: ignore[arg-type]
    assert done.returncode == 69
    assert b"does not answer" in done.stderr


def _fill(descriptor: int) -> bool:
    """Write until nothing more is taken; True if nothing was."""
    taken = 0
    try:
        while True:
            taken += os.write(descriptor, b"x" * 65536)
    except BlockingIOError:
        return taken == 0
