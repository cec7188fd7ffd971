"""The position in Matrix: behind which answer of the home server it goes on, and which encrypted rooms were told so."""

import json

from msgspec import Struct, field

_ROOMS = 50


class Position(Struct):
    """`since` is the home server's, empty before the first answer."""

    since: str = ""
    encrypted: list[str] = field(default_factory=list)

    @classmethod
    def parse(cls, text: str) -> "Position":
        """Read what `text` wrote; what is not of this kind is no position."""
        try:
            stored = json.loads(text)
            return cls(str(stored["since"]), [str(each) for each in stored["encrypted"]])
        except (ValueError, KeyError, TypeError):
            return cls()

    def text(self) -> str:
        """The position as the server keeps it."""
        return json.dumps({"since": self.since, "encrypted": self.encrypted}, separators=(",", ":"))

    def add_encrypted(self, room: str) -> None:
        """Note a room that was told that it cannot be read."""
        self.encrypted = [*(each for each in self.encrypted if each != room), room][-_ROOMS:]

    def remove_encrypted(self, room: str) -> None:
        """Forget a room that the bot has left."""
        self.encrypted = [each for each in self.encrypted if each != room]
