"""Tools of a module that lives in the test's own process."""

import asyncio
from typing import Any

from parachute.base.errors import InvalidInput, NotFound, ParachuteError
from parachute.modules.runtime.models import OfferedTool

BOOKS = {"type": "object", "properties": {"query": {"type": "string", "description": "Words"}}, "required": ["query"]}


def offered(name: str, schema: dict[str, Any] | None = None, description: str = "Find books") -> OfferedTool:
    """A tool of the module `reading`."""
    return OfferedTool("reading", name, description, schema or BOOKS)


class Reading:
    """Offered tools, and their answers: a text or an error by the tool's name, `hang` for ever.

    `calls` holds (tool, arguments, caller); `hanging` and `stopped` say how far a call of `hang` has come.
    """

    def __init__(self, *names: str) -> None:
        self.offer = [offered(name) for name in names]
        self.answers: dict[str, str | Exception] = {}
        self.calls: list[tuple[str, dict[str, Any], str]] = []
        self.hanging = asyncio.Event()
        self.stopped = asyncio.Event()

    def tools(self) -> tuple[OfferedTool, ...]:
        """Return the tools that are offered now."""
        return tuple(self.offer)

    async def call_tool(self, name: str, arguments: dict[str, Any], caller: str) -> str:
        """Answer a call; errors: NotFound, InvalidInput, or what was prepared."""
        self.calls.append((name, arguments, caller))
        if all(tool.name != name for tool in self.offer):
            raise NotFound(f"There is no tool {name!r}.")
        if name == "hang":
            self.hanging.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.stopped.set()
        answer = self.answers.get(name)
        if isinstance(answer, Exception):
            raise answer
        if answer is not None:
            return answer
        if "query" not in arguments:
            raise InvalidInput("query: this is required (text).")
        return f"Found: {arguments['query']}"


DOWN = ParachuteError("The module reading does not answer.", "Its log is reading.log.", status=502)
