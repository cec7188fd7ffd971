"""The settings of the process, from its environment."""

from collections.abc import Mapping
from pathlib import Path
from typing import Self

from msgspec import Struct

from parachute.base.environment import number_in
from parachute.base.errors import InvalidInput


class VoiceSettings(Struct, frozen=True):
    """Read once at the start; `kind` None: the folder says it."""

    model: Path
    kind: str | None
    idle_seconds: float
    memory_bytes: int

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Read the PARACHUTE_VOICE_ variables; error: InvalidInput naming the variable and what is allowed."""
        model = environment.get("PARACHUTE_VOICE_MODEL", "")
        if not model.startswith("/"):
            raise InvalidInput(
                f"PARACHUTE_VOICE_MODEL is {model!r}, and the path of a folder from / on is needed.",
                key="model_folder_missing",
            )
        return cls(
            Path(model),
            environment.get("PARACHUTE_VOICE_KIND") or None,
            number_in(environment, "PARACHUTE_VOICE_IDLE_SECONDS", 0.1, 86_400, 300),
            int(number_in(environment, "PARACHUTE_VOICE_MEMORY_MEGABYTES", 256, 1 << 20, 2048)) << 20,
        )
