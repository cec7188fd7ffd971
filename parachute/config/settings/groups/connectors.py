"""Settings of messengers that hold for all of them; those of each bot are in `bots.yaml`."""

from typing import Annotated, Literal

from pydantic import Field

from parachute.config.settings.groups.values import Group, TimeOfDay


class MessengerSettings(Group):
    """Language of the computer itself in chats, and what it tells there by itself."""

    language: Literal["en", "de"] = Field(
        default="en", description="The language in which the computer itself speaks in chats of messengers."
    )
    notices: bool = Field(
        default=False,
        description="Tell your own chat of everything that waits in the inbox; what bots' conversations ask is told always.",
    )
    quiet_from: Annotated[str, TimeOfDay] = Field(
        default="22:00", description="When the quiet hours begin, in which notices wait, as HH:MM."
    )
    quiet_until: Annotated[str, TimeOfDay] = Field(default="07:00", description="When the quiet hours end, as HH:MM.")
