"""Whether a request comes from the owner of this computer, for what gives somebody the owner's own rights."""

import asyncio

from fastapi import Request

from parachute.errors import NotAllowed
from parachute.keys.models import Caller
from parachute.keys.peers import is_own_process


async def is_owner(request: Request) -> bool:
    """Whether the caller has admin rights, or is a program of our own user.

    A local web page, another user of this machine and a key without admin rights may chat, and must not run code as the owner.
    """
    scope = request.scope
    caller: Caller = scope["state"]["caller"]
    if caller.may("chat", "admin"):
        return True
    is_program = caller.kind == "local" and not caller.is_browser
    return is_program and await asyncio.to_thread(is_own_process, scope.get("client"), scope.get("server"))


async def require_owner(request: Request, what: str) -> None:
    """Let the owner through; error: NotAllowed for all others."""
    if not await is_owner(request):
        raise NotAllowed(
            f"{what} needs a key with admin rights.", "Make one with: parachute keys create NAME", key="not_owner"
        )
