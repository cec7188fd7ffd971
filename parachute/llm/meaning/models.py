"""Models of the index, and the errors that it has of its own."""

import hashlib
from typing import Self

from msgspec import Struct

from parachute.base.errors import Unavailable
from parachute.core.meaning import Near

__all__ = ["IDLE_SECONDS", "INSTALL_COMMAND", "MeaningUnavailable", "Near", "ServerModel"]

IDLE_SECONDS = "PARACHUTE_MEANING_IDLE_SECONDS"
"""Variable of the time without a request after which the process ends."""
INSTALL_COMMAND = "pip install 'parachute-computer[meaning]'"


class MeaningUnavailable(Unavailable):
    """There is nothing here that knows meanings; words alone are searched."""

    key = "no_meaning"


class ServerModel(Struct, frozen=True):
    """A model of a server of the owner's; `name` is what its vectors are known by: the server, without its address, and the model."""

    server: str
    model: str

    @classmethod
    def at(cls, address: str, model: str) -> Self:
        """The model of this name at an address."""
        return cls(hashlib.sha256(address.encode()).hexdigest()[:16], model)

    @classmethod
    def named(cls, name: str) -> Self:
        """The model that a name says."""
        server, _, model = name.partition(":")
        return cls(server, model)

    @property
    def name(self) -> str:
        """The name that `named` reads; that of the built-in one has no colon."""
        return f"{self.server}:{self.model}"

    @staticmethod
    def is_name(name: str) -> bool:
        """True if a name is that of a server's model."""
        return ":" in name

    def is_neighbour(self, name: str) -> bool:
        """True for a name of this server's, which may be asked for the model that it had before."""
        return self.named(name).server == self.server
