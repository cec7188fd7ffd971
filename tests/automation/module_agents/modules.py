"""Modules as the user approved them, without processes of their own: what runs here are their agents."""

from pathlib import Path
from typing import Any

import yaml

from parachute.modules.manifest.loading import load
from parachute.modules.registry.models import Trust
from parachute.modules.runtime.models import ApprovedModule, OfferedTool


def approved(folder: Path, name: str = "letters", trust: Trust = Trust.TRUSTED, **manifest: Any) -> ApprovedModule:
    """A module with these parts of a manifest; its code lies in a folder of its name."""
    code = folder / name
    (code / "prompts").mkdir(parents=True, exist_ok=True)
    (code / "module.py").write_text("")
    (code / "prompts/agent.md").write_text("You sort letters.\n")
    text = yaml.safe_dump({"name": name, "version": "1.0.0", "module": "module.py", **manifest})
    (code / "manifest.yaml").write_text(text)
    return ApprovedModule(name, f"sha256:{'0' * 64}", trust, load(code), code)


_INTERFACES = {"brain_search": ("BrainInterface",), "other_tool": ("OtherInterface",)}


class Shelf:
    """Tools that other modules offer; each answers with its own name."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def tools(self) -> tuple[OfferedTool, ...]:
        """All of them."""
        schema = {"type": "object", "properties": {}}
        return tuple(
            OfferedTool(name.partition("_")[0], name, f"The tool {name}.", schema, _INTERFACES.get(name, ()))
            for name in self._names
        )

    async def call_tool(self, name: str, arguments: dict[str, Any], caller: str) -> str:
        """The name."""
        return f"answer of {name}"
