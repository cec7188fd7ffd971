"""Reach of a computer, and the order to change it, which outlives the server."""

from msgspec import Struct

from parachute.base.answers import Answer

EVERY_ADDRESS = "0.0.0.0"  # noqa: S104 -- only after all of `checks` passed
ONLY_HERE = "127.0.0.1"


class Order(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `phone.json`: the setting `host` is to be `host`, and was `before`, None where the file said nothing.

    `browser` is the one that asked, `key` the id of a key that was made for it, `problem` why it could not be done.
    """

    host: str
    at: str
    before: str | None = None
    browser: str | None = None
    key: str | None = None
    problem: str | None = None


class Reach(Answer, frozen=True):
    """Devices that reach this computer: those of its networks, where it `is_reachable`, at each of `addresses`, the likeliest first.

    `is_restarting` after it was changed; `problem` says why the last change was taken back.
    """

    is_reachable: bool
    is_restarting: bool
    addresses: list[str]
    port: int
    name: str | None
    problem: str | None
