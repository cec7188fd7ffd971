"""Reading a file of a sandbox through its runner: what is there, as the agent sees it, and nothing that leads elsewhere."""

import pytest

from parachute.base.errors import InvalidInput, NotFound, ParachuteError, Unavailable
from parachute.sandbox.engines.reading import read_file
from tests.sandbox.engines.conftest import SandboxFactory, needs_bubblewrap
from tests.sandbox.engines.sandboxes import Sandbox

pytestmark = [needs_bubblewrap, pytest.mark.process]

LIMIT = 3 * 1024 * 1024


def read(sandbox: Sandbox, path: str) -> bytes:
    """The content of a file of its working directory."""
    pieces: list[bytes] = []
    size = read_file(sandbox.socket, sandbox.directory, path, LIMIT, pieces.append)
    assert size == sum(map(len, pieces))
    return b"".join(pieces)


def refused(sandbox: Sandbox, path: str) -> ParachuteError:
    """Return the error for a file that is not given."""
    with pytest.raises(ParachuteError) as caught:
        read(sandbox, path)
    return caught.value


async def test_a_file_in_memory_is_read_beside_the_agent_which_goes_on(sandboxes: SandboxFactory) -> None:
    sandbox = await sandboxes.make()
    with sandbox.start(
        "/bin/sh", "-c", "mkdir -p deep/er; head -c 2500000 /dev/zero > deep/er/a; echo up; cat"
    ) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        assert agent.stdout.readline() == b"up\n"
        assert read(sandbox, "deep/er/a") == bytes(2_500_000)
        output, _ = agent.communicate(b"still there")
        assert output == b"still there"


async def test_links_folders_pipes_and_what_is_too_large_are_refused(sandboxes: SandboxFactory) -> None:
    sandbox = await sandboxes.make()
    script = (
        "mkdir folder; echo text > folder/file; ln -s folder/file link; ln -s folder way; mkfifo pipe; "
        "ln -s /etc/passwd passwd; head -c 3145729 /dev/zero > large; echo yes > locked; chmod 0 locked; "
        "echo up; cat"
    )
    with sandbox.start("/bin/sh", "-c", script) as agent:
        assert agent.stdout is not None
        assert agent.stdout.readline() == b"up\n"
        for path in ("link", "way/file", "passwd", "folder", "pipe", "locked"):
            found = refused(sandbox, path)
            assert (type(found), found.key) == (InvalidInput, "no_plain_file"), path
        for path in ("nothing", "folder/file/below", "../etc/passwd", "/etc/passwd", "folder/../folder/file", "", "."):
            found = refused(sandbox, path)
            assert (type(found), found.key) == (NotFound, "no_file"), path
        assert refused(sandbox, "large").key == "file_too_large"
        agent.communicate(b"")


async def test_a_sandbox_that_is_gone_is_said(sandboxes: SandboxFactory) -> None:
    sandbox = await sandboxes.make()
    gone = Sandbox(sandbox.socket.with_name("none.sock"), "/", sandbox.launcher, sandbox.unit)
    assert isinstance(refused(gone, "a"), Unavailable)
