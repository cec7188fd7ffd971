"""The position in Discord: up to which message each channel has been handed over."""

import json

from msgspec import Struct, field

_SECONDS_BEHIND = 60
_PRIVATE_CHANNELS = 500


def _id_of_age(message: int, seconds: int) -> int:
    """The id of a message so many seconds earlier: the upper bits of an id are the time in milliseconds."""
    return max(0, message - (seconds * 1000 << 22))


class Position(Struct):
    """Ids of the last messages that the server has stored.

    `floor`: up to here everything of every channel is stored; 0 before the first message. Above it each channel counts for itself,
    because channels are caught up one after the other. Private ones are kept, since a bot cannot ask which it has.
    """

    floor: int = 0
    channels: dict[int, int] = field(default_factory=dict)
    private: dict[int, int] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> "Position":
        """Read what `text` wrote; what is not of this kind is no position."""
        try:
            stored = json.loads(text)
            tables = ({int(key): int(value) for key, value in stored[name].items()} for name in ("channels", "private"))
            return cls(int(stored["floor"]), *tables)
        except (ValueError, KeyError, TypeError, AttributeError):
            return cls()

    def text(self) -> str:
        """The position as the server keeps it."""
        return json.dumps(
            {"floor": self.floor, "channels": self.channels, "private": self.private}, separators=(",", ":")
        )

    def after(self, channel: int, floor: int) -> int:
        """The message after which a channel has to be read, `floor` if none of it was stored above that."""
        return self.channels.get(channel) or self.private.get(channel) or floor

    def advance(self, channel: int, message: int, *, is_private: bool, is_level: bool) -> None:
        """Note a message; `is_level`: no channel is behind, so that everything older is stored too."""
        table = self.private if is_private else self.channels
        table[channel] = max(message, table.pop(channel, 0))
        while len(self.private) > _PRIVATE_CHANNELS:
            del self.private[min(self.private, key=lambda each: self.private[each])]
        if not self.floor:
            self.floor = message
        elif is_level:
            # Messages of different channels do not come in the order of their ids, but nearly.
            self.floor = max(self.floor, _id_of_age(message, _SECONDS_BEHIND))
            self.channels = {each: last for each, last in self.channels.items() if last > self.floor}
