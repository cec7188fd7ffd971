"""Settings of automation: suggestions, sorting them, and reviews of contexts."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from parachute.config.settings.groups.values import Group, Off, TimeOfDay


def _kind(value: str) -> str:
    if not re.fullmatch(r"(create|update|delete|link):[a-z][a-z0-9_-]{0,39}", value) or value.endswith(":settings"):
        raise ValueError("expected an action and a module, such as create:brain; never the computer's own settings")
    return value


class SuggestionSettings(Group):
    """Changes that agents want to make to what modules keep."""

    from_chats: Literal["propose", "write"] = Field(
        title="What chats remember",
        default="propose",
        description="What agents of your own chats remember waits for your yes, or is written at once; deletions, and what comes "
        "from elsewhere, always wait.",
    )


class OrchestratorSettings(Group):
    """The agent that sorts suggestions."""

    time: Annotated[str | None, TimeOfDay] = Field(
        title="Sort suggestions each day at",
        default=None,
        description="When each day the agent sorts suggestions by itself, such as 06:30; empty for never.",
    )
    resolves: list[Annotated[str, AfterValidator(_kind)]] = Field(
        title="Suggestions it may decide",
        default=[],
        description="Kinds of suggestions that it approves or rejects without you, such as create:brain.",
    )


class CuratorSettings(Group):
    """The agent that reviews contexts when one that they watch has changed."""

    mode: Annotated[Literal["off", "propose", "write"], Off] = Field(
        title="Updates of linked instructions",
        default="propose",
        description="What becomes of its reviews: none are made, what it proposes waits for your yes, or it is written at once "
        "where nothing in it came from elsewhere; also that can be taken back.",
    )
    reviews_per_day: int = Field(
        title="Reviews in a day", default=20, ge=1, le=50, description="How many reviews it makes in a day at most."
    )
    quiet_seconds: float = Field(
        title="Wait after a change",
        default=60,
        ge=0,
        le=86400,
        allow_inf_nan=False,
        description="How long nothing may have changed before a review begins, so that several changes are one review.",
    )
