"""Routes of bots (contract, section 8). An error has its sentence in `error`, too, where the app looks for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, Depends, Request

from parachute.base.clock import as_text
from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.services import provided
from parachute.chat.sessions.api import CallerDependency
from parachute.connectors.bots.models import (
    ApprovalBody,
    Approved,
    BotsStatus,
    ConfigurationShown,
    DeliveryShown,
    LinkedChats,
    LinkedChatShown,
    NewToken,
    Outcome,
    OwnerCode,
    PairingCount,
    PairingRequests,
    TestOutcome,
    Undelivered,
)
from parachute.connectors.bots.service import Bots
from parachute.connectors.configuration.models import (
    PLATFORMS,
    ConfigurationChanges,
    Platform,
)
from parachute.connectors.pairing.service import Approval, Pairing
from parachute.connectors.platforms.available import platform as platform_of
from parachute.web.access.owner import require_owner
from parachute.web.http.integers import RowId

router = APIRouter(prefix="/api/bots", tags=["bots"])

BotsDependency = Annotated[Bots, Depends(provided(Bots))]
PairingDependency = Annotated[Pairing, Depends(provided(Pairing))]


@router.get("/status")
async def get_status(service: BotsDependency) -> BotsStatus:
    """Say what each bot is doing."""
    return await service.status()


@router.get("/config")
async def get_config(service: BotsDependency) -> ConfigurationShown:
    """The settings of all bots, without their tokens."""
    return await service.shown()


@router.put("/config")
async def change_config(
    request: Request, body: ConfigurationChanges, service: BotsDependency, who: CallerDependency
) -> ConfigurationShown:
    """Change the settings of bots, what is absent stays; a token is kept, and an empty one changes nothing."""
    await require_owner(request, "Changing bots")
    return await service.configure(body, f"{who.kind} {who.name}")


@router.get("/pairing")
async def list_pairing(service: PairingDependency) -> PairingRequests:
    """Everybody who waits to be let in."""
    return PairingRequests(requests=[each.shown() for each in await service.waiting()])


@router.get("/pairing/count")
async def count_pairing(service: PairingDependency) -> PairingCount:
    """Count those who wait to be let in; the app asks every half a minute."""
    return PairingCount(pending=len(await service.waiting()))


@router.post("/pairing/{identifier}/approve")
async def approve(
    request: Request, identifier: str, body: ApprovalBody, service: PairingDependency, who: CallerDependency
) -> Approved:
    """Let somebody in, by the id of the request or its code."""
    with _told():
        await require_owner(request, "Letting somebody in")
        found = await service.find(identifier)
        approval = Approval(
            f"{who.kind} {who.name}", body.trust_level, body.template, body.response_mode, body.mention_pattern
        )
        return Approved(chat=LinkedChatShown.of(await service.approve(found.id, approval)))


@router.post("/pairing/{identifier}/deny")
async def deny(request: Request, identifier: str, service: PairingDependency, who: CallerDependency) -> Outcome:
    """Do not let somebody in, by the id of the request or its code."""
    with _told():
        await require_owner(request, "Refusing somebody")
        await service.deny((await service.find(identifier)).id, f"{who.kind} {who.name}")
        return Outcome()


@router.get("/chats")
async def list_chats(service: BotsDependency) -> LinkedChats:
    """Every chat that may talk to a bot, with its conversation."""
    return LinkedChats(chats=[LinkedChatShown.of(each) for each in await service.linked()])


@router.delete("/chats/{platform}/{chat}")
async def unlink(request: Request, platform: str, chat: str, service: BotsDependency, who: CallerDependency) -> Outcome:
    """Let a chat in no longer; its conversation stays."""
    await require_owner(request, "Unlinking a chat")
    await service.unlink(_platform(platform), chat, f"{who.kind} {who.name}")
    return Outcome()


@router.get("/deliveries")
async def list_undelivered(service: BotsDependency) -> Undelivered:
    """List what could not be delivered."""
    return Undelivered(messages=[DeliveryShown.of(each) for each in await service.deliveries.failed()])


@router.post("/deliveries/{number}/retry")
async def retry(request: Request, number: RowId, service: BotsDependency) -> Outcome:
    """Try again what could not be delivered."""
    await require_owner(request, "Sending a message again")
    await service.deliveries.retry(number)
    return Outcome()


@router.delete("/deliveries/{number}")
async def discard(request: Request, number: RowId, service: BotsDependency) -> Outcome:
    """Give up what could not be delivered."""
    await require_owner(request, "Giving up a message")
    await service.deliveries.discard(number)
    return Outcome()


@router.post("/{platform}/start")
async def start(request: Request, platform: str, service: BotsDependency, who: CallerDependency) -> Outcome:
    """Have a bot run, from now on and after a restart."""
    with _told():
        await require_owner(request, "Starting a bot")
        await service.switch_on(_platform(platform), f"{who.kind} {who.name}")
        return Outcome()


@router.post("/{platform}/stop")
async def stop(request: Request, platform: str, service: BotsDependency, who: CallerDependency) -> Outcome:
    """Have a bot run no longer."""
    with _told():
        await require_owner(request, "Stopping a bot")
        await service.switch_off(_platform(platform), f"{who.kind} {who.name}")
        return Outcome()


@router.post("/{platform}/test")
async def test(request: Request, platform: str, service: BotsDependency) -> TestOutcome:
    """Ask the platform who the bot is, with the token that is kept."""
    with _told():
        await require_owner(request, "Trying a bot")
        identity = await service.identity(_platform(platform))
        return TestOutcome(bot_name=identity.name, bot_id=identity.id)


@router.put("/{platform}/token")
async def set_token(
    request: Request, platform: str, body: NewToken, service: BotsDependency, who: CallerDependency
) -> Outcome:
    """Keep a bot's token in place of the one before."""
    await require_owner(request, "The token of a bot")
    await service.set_token(_platform(platform), body.token, f"{who.kind} {who.name}")
    return Outcome()


@router.delete("/{platform}/token")
async def remove_token(request: Request, platform: str, service: BotsDependency, who: CallerDependency) -> Outcome:
    """Forget a bot's token, which stops it."""
    await require_owner(request, "The token of a bot")
    await service.remove_token(_platform(platform), f"{who.kind} {who.name}")
    return Outcome()


@router.post("/{platform}/owner-code")
async def owner_code(request: Request, platform: str, service: BotsDependency) -> OwnerCode:
    """Make a code by which you show that a private chat is your own; it gives no rights but to be asked there."""
    await require_owner(request, "A code for your own chat")
    code, ends = service.owner_code(_platform(platform))
    return OwnerCode(code=code, command=f"{platform_of(platform).sign}owner {code}", ends=as_text(ends))


@contextmanager
def _told() -> Iterator[None]:
    """Answer an error of the block as the app reads it."""
    try:
        yield
    except ParachuteError as error:
        error.fields |= {"success": False, "error": str(error)}
        raise


def _platform(word: str) -> Platform:
    if word in PLATFORMS:
        return word
    raise InvalidInput(f"platform: expected one of {', '.join(PLATFORMS)}, not {word[:40]!r}.", key="unknown_platform")
