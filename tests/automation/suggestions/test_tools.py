"""Tools of modules, as agents call them: what a module read for a call is known before its answer."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from parachute.automation.suggestions.service import Suggestions
from parachute.automation.suggestions.tools import AgentTools
from parachute.base.errors import NotFound
from parachute.core.errors import ModuleError
from parachute.modules.runtime.models import OfferedTool
from parachute.modules.runtime.service import Hosts


class Modules:
    """One module with a tool that answers, and one that fails."""

    def tools(self) -> tuple[OfferedTool, ...]:
        return tuple(OfferedTool("brain", name, "", {}) for name in ("brain-find", "brain-fail"))

    async def call_tool(self, name: str, arguments: dict[str, Any], caller: str) -> str:
        if name == "brain-fail":
            raise ModuleError("It failed.")
        if name != "brain-find":
            raise NotFound("There is no such tool.", key="no_such_tool")
        return "found"


async def test_what_a_module_read_counts_before_its_answer_also_when_it_fails() -> None:
    heard: list[tuple[str, str]] = []

    async def answering(session: str, module: str) -> None:
        heard.append((session, module))

    async def owner(session: str) -> None:
        """No session is a module's."""

    tools = AgentTools(cast(Hosts, Modules()), cast(Suggestions, SimpleNamespace()), owner, answering)
    assert await tools.call_tool("brain-find", {}, "one") == "found"
    assert heard == [("one", "brain")]
    with pytest.raises(ModuleError):
        await tools.call_tool("brain-fail", {}, "two")
    assert heard == [("one", "brain"), ("two", "brain")]
    with pytest.raises(NotFound):
        await tools.call_tool("brain-gone", {}, "one")
    assert len(heard) == 2
