"""Settings of messengers that hold for all of them; those of each bot are in `bots.yaml`."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from parachute.base.clock import Clock
from parachute.config.settings.groups.values import Group, TimeOfDay

_CONTACT = r"^((mailto:[!-?A-~]{1,100}@|https://)[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63}){1,8}(/[!-~]{0,100})?)?$"
"""An address of the internet (RFC 8292, section 2.1)."""


class QuietHours(Group):
    """The hours in which the owner's chat and devices are told nothing that can wait; they may go over midnight."""

    quiet_from: Annotated[str, TimeOfDay] = Field(
        title="Quiet from", default="22:00", description="Start of the quiet hours, in which notices wait, as HH:MM."
    )
    quiet_until: Annotated[str, TimeOfDay] = Field(
        title="Quiet until", default="07:00", description="End of the quiet hours, as HH:MM."
    )

    def holds(self, moment: datetime) -> bool:
        """Return whether a moment, in the time of the owner, is within these hours."""
        now, begin, end = moment.strftime("%H:%M"), self.quiet_from, self.quiet_until
        return begin <= now < end if begin <= end else not end <= now < begin

    def hold_at(self, clock: Clock) -> bool:
        """Return whether it is quiet now, for every way in which the owner is told something."""
        return self.holds(clock.now().astimezone(clock.zone))


class MessengerSettings(QuietHours):
    """Language of the computer itself in chats, and what it tells there by itself."""

    language: Literal["en", "de"] = Field(
        title="Language in messengers",
        default="en",
        description="Language of the computer's own messages in messengers.",
    )
    notices: bool = Field(
        title="Notices in your messenger",
        default=False,
        description="Send every new inbox item to your own chat; questions of bots' conversations are always sent.",
    )


class PushSettings(Group):
    """Notices to devices that are signed in."""

    says: Literal["waits", "kind", "title"] = Field(
        title="What notices on your devices say",
        default="kind",
        description="What a notice says on a locked screen: only that something waits, of what kind it is, or its title and "
        "details, which can then be answered there.",
    )
    contact: Annotated[str, Field(pattern=_CONTACT)] = Field(
        title="Contact for push services",
        default="",
        description="Where push services may reach you if your computer troubles them: a `mailto:` or an `https:` address. Empty: "
        "the address at which the device calls this computer. Apple's service takes none that is only known at home.",
    )
