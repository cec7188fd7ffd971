"""Examples of the specification, word for word, and how they are completed to run."""

from pathlib import Path
from typing import Any

_IMPORTS = "from parachute.core import AgentConfig, Module, SandboxConfig\n\n\n"


def text(name: str) -> str:
    """The example as it is written."""
    return (Path(__file__).parent / f"{name}.txt").read_text()


def daily() -> str:
    """The module of the specification, with the one method that it calls and leaves to the reader."""
    return text("daily") + (
        "\n    async def trigger_reflection_agent(self, entry_id):"
        '\n        await self.core.publish("daily.reflection.completed", {"entry_id": entry_id})\n'
    )


def run(source: str) -> dict[str, Any]:
    """The names that an example defines."""
    names: dict[str, Any] = {"__name__": "example"}
    if "import" not in source:
        source = _IMPORTS + source
    exec(compile(source, "example.py", "exec"), names)
    return names
