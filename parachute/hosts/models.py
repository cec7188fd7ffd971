"""What core knows of a module that may run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parachute.manifest import Manifest
from parachute.modules.models import Trust


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """An MCP tool of an enabled module, as its host describes it; `input_schema` is JSON Schema of an object."""

    module: str
    name: str
    description: str
    input_schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ApprovedModule:
    """A module that the user approved: its manifest and code, read from the verified copy in the folder of trust.

    `hash` is that of the code, `trust` who vouches for it. `manifest` is what the user agreed to.
    """

    name: str
    hash: str
    trust: Trust
    manifest: Manifest
    code: Path
