"""The name that this computer really has on the local network: Avahi gives it another one when it is taken."""

import asyncio
import os
import re

_BUS = "unix:path=/run/dbus/system_bus_socket"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.local")
_SECONDS = 2.0


async def announced_name(seconds: float = _SECONDS) -> str | None:
    """Ask Avahi for the name, such as `parachute-2.local`; None where there is no Avahi that answers in time."""
    try:
        # Not at the top: a computer that is called by its address never needs it.
        from dbus_fast import BusType, Message, MessageType
        from dbus_fast.aio import MessageBus
        from dbus_fast.errors import DBusFastError
    except ImportError:
        return None
    address = os.environ.get("DBUS_SYSTEM_BUS_ADDRESS") or _BUS
    try:
        bus = MessageBus(bus_address=address, bus_type=BusType.SYSTEM)
    except DBusFastError:
        return None  # the address is none
    try:
        async with asyncio.timeout(seconds):
            await bus.connect()
            question = Message(
                destination="org.freedesktop.Avahi",
                path="/",
                interface="org.freedesktop.Avahi.Server",
                member="GetHostNameFqdn",
            )
            answer = await bus.call(question)
    except (OSError, DBusFastError, EOFError, TimeoutError):
        return None
    finally:
        bus.disconnect()
    if answer is None or answer.message_type is not MessageType.METHOD_RETURN or answer.signature != "s":
        return None
    name = str(answer.body[0]).lower().removesuffix(".")
    return name if _NAME.fullmatch(name) else None
