"""The settings of the offline model, from its environment."""

from collections.abc import Mapping
from pathlib import Path
from typing import Self

from msgspec import Struct

from parachute.base.environment import number_in
from parachute.base.errors import InvalidInput

_IDLE_SECONDS = 300.0
_CONTEXT_TOKENS = 4096
_ANSWER_TOKENS = 400


class OfflineSettings(Struct, frozen=True):
    """Read once at the start of the process; `model` None means the model of the `offline` extra."""

    model: Path | None = None
    idle_seconds: float = _IDLE_SECONDS
    context_tokens: int = _CONTEXT_TOKENS
    answer_tokens: int = _ANSWER_TOKENS

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Read the PARACHUTE_OFFLINE_ variables; error: InvalidInput naming the variable and what is allowed."""
        model = environment.get("PARACHUTE_OFFLINE_MODEL")
        settings = cls(
            model=Path(model) if model else None,
            idle_seconds=number_in(environment, "PARACHUTE_OFFLINE_IDLE_SECONDS", 0.1, 86_400, _IDLE_SECONDS),
            context_tokens=int(
                number_in(environment, "PARACHUTE_OFFLINE_CONTEXT_TOKENS", 512, 131_072, _CONTEXT_TOKENS)
            ),
            answer_tokens=int(number_in(environment, "PARACHUTE_OFFLINE_ANSWER_TOKENS", 16, 65_536, _ANSWER_TOKENS)),
        )
        # Without this the question itself could be left with no room.
        if settings.answer_tokens > settings.context_tokens // 2:
            half = settings.context_tokens // 2
            if "PARACHUTE_OFFLINE_ANSWER_TOKENS" in environment:
                raise InvalidInput(
                    f"PARACHUTE_OFFLINE_ANSWER_TOKENS is {settings.answer_tokens}, and half of the context of "
                    f"{settings.context_tokens} tokens is allowed.",
                    f"Set it to {half} or less, or raise PARACHUTE_OFFLINE_CONTEXT_TOKENS.",
                    key="answer_over_context",
                )
            return cls(settings.model, settings.idle_seconds, settings.context_tokens, half)
        return settings
