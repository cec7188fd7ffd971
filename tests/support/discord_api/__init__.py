"""A stand-in for Discord on a loopback port: REST, the gateway's websocket and the files' host, written from its documentation.

`with DiscordAPI() as discord:` or `async with`; the real library talks to it. It runs in a thread with an event loop of its own, so
that what is tested may be another process.
"""

from .server import DiscordAPI
from .world import Channel

__all__ = ["Channel", "DiscordAPI"]
