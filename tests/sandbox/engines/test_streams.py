"""What passes between the SDK's side and an agent's program, in both engines."""

import hashlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox.boxes import RUNNER, Box, marker
from tests.supervisor.launching import wait_until, with_argument


async def test_a_line_of_any_length_passes_both_ways(box: Box) -> None:
    for size in (8 << 20, 64 << 20):
        line = b"x" * (size - 1) + b"\n"
        done = box.run("cat", data=line)
        assert (done.returncode, done.stderr, len(done.stdout)) == (0, b"", size)
        assert done.stdout == line


async def test_every_byte_passes_unchanged(box: Box) -> None:
    data = bytes(range(256)) * 4096
    assert box.run("cat", data=data).stdout == data


async def test_a_slow_reader_loses_nothing(box: Box) -> None:
    with box.start("seq", "1", "1000000") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        digest = hashlib.sha256()
        while data := os.read(process.stdout.fileno(), 1000):
            digest.update(data)
        assert process.wait(20) == 0
    expected = "".join(f"{number}\n" for number in range(1, 1000001)).encode()
    assert digest.hexdigest() == hashlib.sha256(expected).hexdigest()


async def test_the_end_of_input_reaches_the_agent_and_it_may_still_write(box: Box) -> None:
    done = box.run("sh", "-c", "cat >/dev/null; sleep 0.2; echo flushed; exit 4", data=b"input")
    assert (done.stdout, done.returncode) == (b"flushed\n", 4)


async def test_an_agent_that_ignores_the_end_of_its_input_is_ended(box: Box) -> None:
    """After five seconds, as long as the SDK waits; not earlier than its own last words."""
    mark = marker()
    done = box.run("sh", "-c", f"sleep 1; echo still here; sleep {mark}")
    assert (done.stdout, done.returncode) == (b"still here\n", 128 + signal.SIGKILL)
    assert not with_argument(mark)


async def test_the_exit_status_is_reported_and_a_signal_as_a_shell_does(box: Box) -> None:
    for code in (0, 1, 255):
        assert box.run("sh", "-c", f"exit {code}").returncode == code
    for number in (signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL):
        assert box.run("sh", "-c", f"kill -{number.value} $$").returncode == 128 + number


async def test_a_flood_of_errors_neither_blocks_nor_fills_memory(box: Box) -> None:
    done = box.run("sh", "-c", "head -c 104857600 /dev/zero >&2; echo through")
    assert (done.stdout, done.returncode) == (b"through\n", 0)
    assert 0 < len(done.stderr) <= 256 * 1024


async def test_an_agent_that_reads_nothing_can_end(box: Box) -> None:
    assert box.run("sh", "-c", "exit 3", data=b"x" * (10 << 20)).returncode == 3


async def test_an_agent_that_closes_its_input_goes_on(box: Box) -> None:
    done = box.run("sh", "-c", "exec <&-; sleep 0.2; echo on", data=b"x" * (10 << 20))
    assert (done.stdout, done.returncode) == (b"on\n", 0)


async def test_nothing_survives_the_connection(box: Box) -> None:
    mark = marker()
    script = f"""
        setsid sleep {mark} & nohup sleep {mark} >/dev/null 2>&1 &
        (sh -c "sleep {mark} &" &)
        (setsid sh -c "trap '' TERM HUP; setsid sleep {mark} & sleep {mark}" &)
        while [ "$(ps -e -o args= 2>/dev/null | grep -c '^sleep {mark}')" -lt 5 ] && command -v ps >/dev/null; do :; done
        echo started; sleep {mark}"""
    with box.start("sh", "-c", script) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        assert len(with_argument(f"sleep\0{mark}")) >= 4
        process.kill()
        process.communicate()
    wait_until(lambda: not with_argument(mark), "all of it is gone")
    assert box.shell("echo again") == "again\n"


async def test_orphans_that_hold_the_pipes_end_with_the_agent(box: Box) -> None:
    mark = marker()
    done = box.run("sh", "-c", f"setsid sleep {mark} & echo answer; exit 5")
    assert (done.stdout, done.returncode) == (b"answer\n", 5)
    assert not with_argument(mark)


async def test_a_peer_that_is_killed_with_unread_answers_takes_the_agent_with_it(box: Box) -> None:
    mark = marker()
    with box.start("sh", "-c", f"echo started; yes & sleep {mark}") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        process.kill()
        process.communicate()
    wait_until(lambda: not with_argument(mark), "the agent is gone")


async def test_a_peer_that_is_killed_while_the_agent_reads_nothing_takes_it_along(box: Box) -> None:
    mark = marker()
    with box.start("sh", "-c", f"echo started; sleep {mark}") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        os.set_blocking(process.stdin.fileno(), False)
        # More than the pipe to the agent holds, so that the keeper waits to write.
        wait_until(lambda: _fill(process.stdin.fileno()), "the way to the agent is full")  # type: ignore[union-attr]
        process.kill()
        process.communicate()
    wait_until(lambda: not with_argument(mark), "the agent is gone")


async def test_a_killed_keeper_leaves_nothing(box: Box) -> None:
    mark = marker()
    with box.start("sh", "-c", f"setsid sleep {mark} & (setsid sleep {mark} &); echo started; sleep {mark}") as process:
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
    assert box.shell("echo again") == "again\n"


async def test_a_program_that_does_not_exist_is_said(box: Box) -> None:
    done = box.run("/does/not/exist")
    assert done.returncode == 127
    assert b"/does/not/exist" in done.stderr


async def test_a_working_directory_that_does_not_exist_is_said(box: Box) -> None:
    box.directory = "/nowhere"
    done = box.run("true")
    assert done.returncode == 127
    assert b"/nowhere" in done.stderr


async def test_private_arguments_travel_as_files(box: Box, tmp_path: Path) -> None:
    secret = f"private-{marker()}"
    prompt, servers = tmp_path / "prompt.md", tmp_path / "servers.json"
    prompt.write_text(f"{secret} grüße")
    servers.write_text(json.dumps({"mcpServers": {"a": secret}}))
    script = 'cat "$2"; echo; cat "$4"; echo; stat -c %a "$2"; cat'
    options = ["--system-prompt-file", str(prompt), "--mcp-config", str(servers)]
    with box.start("sh", "-c", script, "agent", *options) as process:
        assert process.stdout is not None
        assert process.stdout.readline().decode() == f"{secret} grüße\n"
        assert json.loads(process.stdout.readline()) == {"mcpServers": {"a": secret}}
        assert not with_argument(secret)
        assert process.stdin is not None
        process.stdin.close()
        assert process.stdout.read() in (b"600\n", b"644\n")  # in a folder that only its owner may enter


async def test_an_inline_configuration_shows_on_no_command_line_of_the_agent(box: Box) -> None:
    secret = f"private-{marker()}"
    text = json.dumps({"mcpServers": {"a": secret}})
    with box.start("sh", "-c", 'cat "$2"; echo; cat', "agent", "--mcp-config", text) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()) == json.loads(text)
        # The SDK starts the wrapper with it; nothing else may show it.
        assert [found.pid for found in with_argument(secret)] == [process.pid]
        process.communicate()


async def test_only_listed_variables_pass(box: Box) -> None:
    box.environment = {"ANTHROPIC_API_KEY": "placeholder", "SECRET": "host", "LD_PRELOAD": "", "HTTP_PROXY": "x"}
    found = box.shell("env")
    assert "ANTHROPIC_API_KEY=placeholder" in found
    for name in ("SECRET", "LD_PRELOAD", "HTTP_PROXY", "OUTSIDE", "PARACHUTE", "LISTEN", "NOTIFY"):
        assert name not in found


def _exchange(path: Path, sent: bytes) -> tuple[bytes, int | None]:
    """All that the runner answers to raw bytes: what it says, and the exit status it reports."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
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


async def test_the_runner_too_drops_variables_that_are_not_listed(box: Box) -> None:
    said, status = _exchange(box.socket, _header(environment={"LD_PRELOAD": "evil", "TZ": "UTC"}))
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


async def test_a_header_that_cannot_be_read_is_refused_and_the_runner_lives_on(box: Box) -> None:
    for sent in _UNREADABLE:
        said, status = _exchange(box.socket, sent)
        assert status == 127, (sent, said)
        assert b"could not be started" in said
    assert _exchange(box.socket, _header(arguments=["echo", "well"])) == (b"well\n", 0)


def test_the_runner_refuses_to_start_without_a_socket() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "LISTEN_FDS"}
    done = subprocess.run(
        [sys.executable, "-IS", str(RUNNER), "--", "true"], env=environment, capture_output=True, timeout=20
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
        listener.settimeout(20)
        box = Box(path, "/", None, "")  # type: ignore[arg-type]
        with box.start("any") as process:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(frames)
                connection.shutdown(socket.SHUT_WR)
                _, errors = process.communicate(timeout=20)
            assert process.returncode == 70
            assert errors.count(b"\n") == 1


def test_the_wrapper_says_when_nobody_answers(short_folder: Path) -> None:
    done = Box(short_folder / "agent.sock", "/", None, "").run("any")  # type: ignore[arg-type]
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
