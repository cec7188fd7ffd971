"""Sandboxes that hold named folders and files only, as agents of modules have them."""

import os
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from parachute.sandbox.engines.limits import Limits
from parachute.sandbox.engines.models import Mount
from tests.sandbox.engines.conftest import SandboxFactory, needs_bubblewrap
from tests.sandbox.engines.sandboxes import Sandbox

pytestmark = [needs_bubblewrap, pytest.mark.process]


async def confined(sandboxes: SandboxFactory, *mounts: Mount) -> Sandbox:
    """A sandbox with these mounts."""
    session = str(uuid.uuid4())
    line = sandboxes.endpoint(session)
    execution = await sandboxes.service.confine(session, line, mounts, egress=False, limits=Limits(processes=200))
    return Sandbox(execution.agent_socket, execution.directory, sandboxes.launcher, f"sandbox@{session}")


def note(sandboxes: SandboxFactory, *, writable: bool = False) -> Mount:
    """A single file."""
    return Mount(str(sandboxes.vault.root / "Daily/note.md"), "/vault/Daily/note.md", writable, is_file=True)


async def test_a_single_file_is_there_without_its_neighbours(sandboxes: SandboxFactory) -> None:
    (sandboxes.vault.root / "Daily/other.md").write_text("another note")
    sandbox = await confined(sandboxes, note(sandboxes))
    assert sandbox.shell("find /vault | sort; cat /vault/Daily/note.md") == (
        "/vault\n/vault/Daily\n/vault/Daily/note.md\na note"
    )
    for attempt in ("echo x > /vault/Daily/note.md", "rm -f /vault/Daily/note.md", "echo x > /vault/Daily/new"):
        assert sandbox.run("sh", "-c", attempt).returncode != 0, attempt
    assert (sandboxes.vault.root / "Daily/note.md").read_text() == "a note"


async def test_a_file_to_be_written_is_written_itself_by_so_many_processes(sandboxes: SandboxFactory) -> None:
    sandbox = await confined(sandboxes, note(sandboxes, writable=True))
    sandbox.shell("echo more >> /vault/Daily/note.md")
    assert (sandboxes.vault.root / "Daily/note.md").read_text() == "a notemore\n"
    limit = "import json, resource; print(json.dumps(resource.getrlimit(resource.RLIMIT_NPROC)))"
    assert sandbox.python(limit) == [200, 200]


@pytest.mark.long
async def test_a_file_that_another_agent_replaced_is_not_given(sandboxes: SandboxFactory) -> None:
    secret = sandboxes.launcher.folder / "secret"
    secret.write_text("outside")
    path = sandboxes.vault.root / "Daily/note.md"
    ways: tuple[Callable[[], object], ...] = (
        lambda: path.symlink_to(secret),
        lambda: path.mkdir(),
        lambda: _pipe(path),
    )
    for replace in ways:
        sandbox = await confined(sandboxes, note(sandboxes))
        path.rmdir() if path.is_dir() else path.unlink()
        replace()
        assert sandbox.run("ls", "/vault/Daily").returncode != 0
        assert (await confined(sandboxes, note(sandboxes, writable=True))).run("true").returncode == 70


def _pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)
