"""Messages of MCP at work: whatever becomes of those who wait, each has ended when all are closed."""

import asyncio
import contextlib

from parachute.base.mcp_messages import Object, Working


async def test_closing_waits_for_a_message_whose_caller_is_gone() -> None:
    working, begun = Working(), asyncio.Event()
    ended: list[str] = []

    async def work() -> Object | None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            ended.append("work")
        return None

    caller = asyncio.create_task(working.answered("key", 1, work()))
    await begun.wait()
    caller.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await caller
    assert working.is_at("key"), "it has not ended yet"
    await working.close()
    assert (ended, working.is_at("key")) == (["work"], False)
