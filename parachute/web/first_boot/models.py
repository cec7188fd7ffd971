"""The progress of setting this computer up."""

from msgspec import Struct


class Progress(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `setup.json`: times as the API writes them, `boot` the identity of the boot in which the key was made."""

    key: str | None = None
    boot: str | None = None
    used: bool = False
    done_at: str | None = None


class Invitation(Struct, frozen=True):
    """A key to set the computer up with, or why there is none; the secret is stored nowhere."""

    secret: str | None
    reason: str | None = None
    is_done: bool = False
