"""The owner as a caller, for what gives somebody the owner's own rights."""

from fastapi import Request
from msgspec.structs import replace

from parachute.base.errors import NotAllowed
from parachute.security.keys.models import FULL_ACCESS, Caller, check_confirmed
from parachute.security.keys.peers import Peers


async def is_owner(request: Request) -> bool:
    """Return whether the caller has admin rights, or is a program of our own user.

    A local web page, another user of this machine and a key without admin rights may chat, and must not run code as the owner.
    """
    caller: Caller = request.scope["state"]["caller"]
    return caller.may("chat", "admin") or await _is_own_program(request)


async def acting(request: Request) -> Caller:
    """The caller, with all rights if it is a program of our own user: for a route where what it needs is in its body."""
    caller: Caller = request.scope["state"]["caller"]
    return replace(caller, scopes=FULL_ACCESS) if await _is_own_program(request) else caller


async def _is_own_program(request: Request) -> bool:
    scope = request.scope
    caller: Caller = scope["state"]["caller"]
    if caller.kind != "local" or caller.is_browser:
        return False
    peers: Peers = scope["state"]["peers"]
    return bool(await peers.is_own(scope.get("client"), scope.get("server")))


async def require_owner(request: Request, what: str, *, is_decision: bool = True) -> None:
    """Let the owner through, who has confirmed it where a browser asks for a decision; errors: NotAllowed, ParachuteError (`confirmation_needed`)."""
    if not await is_owner(request):
        raise NotAllowed(
            f"{what} needs a key with admin rights.", "Make one with: parachute keys create NAME", key="not_owner"
        )
    if is_decision:
        check_confirmed(request.scope["state"]["caller"])
