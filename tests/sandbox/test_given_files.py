"""Boxes that hold named folders and files only, as agents of modules have them."""

import os
import uuid
from pathlib import Path

from parachute.sandbox.limits import Limits
from parachute.sandbox.models import Mount
from tests.sandbox.boxes import Box
from tests.sandbox.conftest import Boxes, needs_bubblewrap

pytestmark = needs_bubblewrap


async def confined(boxes: Boxes, *mounts: Mount) -> Box:
    """A box with these mounts."""
    session = str(uuid.uuid4())
    line = boxes.line(session)
    execution = await boxes.sandboxes.confine(session, line, mounts, egress=False, limits=Limits(processes=200))
    return Box(execution.agent_socket, execution.directory, boxes.launcher, f"sandbox@{session}")


def note(boxes: Boxes, *, writable: bool = False) -> Mount:
    """A single file."""
    return Mount(str(boxes.vault.root / "Daily/note.md"), "/vault/Daily/note.md", writable, is_file=True)


async def test_a_single_file_is_there_without_its_neighbours(boxes: Boxes) -> None:
    (boxes.vault.root / "Daily/other.md").write_text("another note")
    box = await confined(boxes, note(boxes))
    assert box.shell("find /vault | sort; cat /vault/Daily/note.md") == (
        "/vault\n/vault/Daily\n/vault/Daily/note.md\na note"
    )
    for attempt in ("echo x > /vault/Daily/note.md", "rm -f /vault/Daily/note.md", "echo x > /vault/Daily/new"):
        assert box.run("sh", "-c", attempt).returncode != 0, attempt
    assert (boxes.vault.root / "Daily/note.md").read_text() == "a note"


async def test_a_file_to_be_written_is_written_itself(boxes: Boxes) -> None:
    box = await confined(boxes, note(boxes, writable=True))
    box.shell("echo more >> /vault/Daily/note.md")
    assert (boxes.vault.root / "Daily/note.md").read_text() == "a notemore\n"


async def test_a_file_that_another_agent_replaced_is_not_given(boxes: Boxes) -> None:
    secret = boxes.launcher.folder / "secret"
    secret.write_text("outside")
    path = boxes.vault.root / "Daily/note.md"
    for replace in (
        lambda: path.symlink_to(secret),
        lambda: path.mkdir(),
        lambda: _pipe(path),
    ):
        box = await confined(boxes, note(boxes))
        path.rmdir() if path.is_dir() else path.unlink()
        replace()
        assert box.run("ls", "/vault/Daily").returncode != 0
        assert (await confined(boxes, note(boxes, writable=True))).run("true").returncode == 70


async def test_how_many_processes_there_may_be(boxes: Boxes) -> None:
    box = await confined(boxes)
    limit = "import json, resource; print(json.dumps(resource.getrlimit(resource.RLIMIT_NPROC)))"
    assert box.python(limit) == [200, 200]


def _pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)
