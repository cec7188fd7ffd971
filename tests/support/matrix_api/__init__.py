"""A home server on a loopback port with what a bot needs of the Client-Server API, written from its specification (v1.16).

`with MatrixAPI() as matrix:`; it runs in a thread with an event loop of its own, so that what is tested may be another process.
"""

from .people import BOT, People, Written
from .server import MatrixAPI
from .world import TOKEN

__all__ = ["BOT", "TOKEN", "MatrixAPI", "People", "Written"]
