"""A box that is started ahead of its agent."""

import uuid

from tests.sandbox.boxes import Box
from tests.sandbox.conftest import Boxes, needs_bubblewrap

pytestmark = needs_bubblewrap


async def test_a_box_that_was_opened_is_woken_once_and_serves_its_agent(boxes: Boxes) -> None:
    session = str(uuid.uuid4())
    boxes.sandboxes.wake(session)  # it has no box
    box = await boxes.make(session=session)
    assert await _state(boxes, box) == "listening"
    boxes.sandboxes.wake(session)
    while await _state(boxes, box) != "running":
        pass
    process = (await boxes.launcher.unit(box.unit))["process"]
    assert box.shell("echo up") == "up\n"
    boxes.sandboxes.wake(session)
    assert (await boxes.launcher.unit(box.unit))["process"] == process
    await boxes.sandboxes.close(session)
    await boxes.make(session=session)
    boxes.sandboxes.wake(session)
    assert box.shell("echo again") == "again\n"


async def test_a_box_that_was_closed_or_woken_stays_as_it_is(boxes: Boxes) -> None:
    session = str(uuid.uuid4())
    box = await boxes.make(session=session)
    await boxes.sandboxes.close(session)
    boxes.sandboxes.wake(session)
    box = await boxes.make(session=session)
    boxes.sandboxes.wake(session)
    assert box.shell("echo up") == "up\n"
    # Nothing of the specification has changed: a turn that finds its agent warm starts nothing.
    await boxes.launcher.ask("close", unit=box.unit)
    await boxes.make(session=session)
    boxes.sandboxes.wake(session)
    assert await _state(boxes, box) == "listening"


async def _state(boxes: Boxes, box: Box) -> str:
    return str((await boxes.launcher.unit(box.unit))["state"])
