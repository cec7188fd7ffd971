"""Routes of bots (contract, section 8). An error has its sentence in `error`, too, where the app looks for it."""

from collections.abc import Awaitable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse

from parachute.base.clock import as_text
from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.services import provided
from parachute.chat.sessions.api import CallerDependency
from parachute.connectors.bots.models import (
    ApprovalBody,
    Approved,
    BotsStatus,
    ConfigurationShown,
    LinkedChats,
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
    return BotsStatus.model_validate(await service.status())


@router.get("/config")
async def get_config(service: BotsDependency) -> ConfigurationShown:
    """The settings of all bots, without their tokens."""
    return ConfigurationShown.model_validate(await service.shown())


@router.put("/config")
async def change_config(
    request: Request, body: ConfigurationChanges, service: BotsDependency, who: CallerDependency
) -> ConfigurationShown:
    """Change the settings of bots, what is absent stays; a token is kept, and an empty one changes nothing."""
    await require_owner(request, "Changing bots")
    return ConfigurationShown.model_validate(await service.configure(body, f"{who.kind} {who.name}"))


@router.get("/pairing")
async def list_pairing(service: PairingDependency) -> PairingRequests:
    """Everybody who waits to be let in."""
    return PairingRequests.model_validate({"requests": [each.as_json() for each in await service.waiting()]})


@router.get("/pairing/count")
async def count_pairing(service: PairingDependency) -> PairingCount:
    """Count those who wait to be let in; the app asks every half a minute."""
    return PairingCount(pending=len(await service.waiting()))


@router.post("/pairing/{identifier}/approve", response_model=Approved)
async def approve(
    request: Request, identifier: str, body: ApprovalBody, service: PairingDependency, who: CallerDependency
) -> Any:
    """Let somebody in, by the id of the request or its code."""

    async def approved() -> dict[str, Any]:
        await require_owner(request, "Letting somebody in")
        found = await service.find(identifier)
        approval = Approval(
            f"{who.kind} {who.name}", body.trust_level, body.template, body.response_mode, body.mention_pattern
        )
        return {"chat": (await service.approve(found.id, approval)).as_json()}

    return await _outcome(approved())


@router.post("/pairing/{identifier}/deny", response_model=Outcome)
async def deny(request: Request, identifier: str, service: PairingDependency, who: CallerDependency) -> Any:
    """Do not let somebody in, by the id of the request or its code."""

    async def denied() -> dict[str, Any]:
        await require_owner(request, "Refusing somebody")
        await service.deny((await service.find(identifier)).id, f"{who.kind} {who.name}")
        return {}

    return await _outcome(denied())


@router.get("/chats")
async def list_chats(service: BotsDependency) -> LinkedChats:
    """Every chat that may talk to a bot, with its conversation."""
    return LinkedChats.model_validate({"chats": [each.as_json() for each in await service.linked()]})


@router.delete("/chats/{platform}/{chat}", response_model=Outcome)
async def unlink(
    request: Request, platform: str, chat: str, service: BotsDependency, who: CallerDependency
) -> dict[str, bool]:
    """Let a chat in no longer; its conversation stays."""
    await require_owner(request, "Unlinking a chat")
    await service.unlink(_platform(platform), chat, f"{who.kind} {who.name}")
    return {"success": True}


@router.get("/deliveries")
async def list_undelivered(service: BotsDependency) -> Undelivered:
    """List what could not be delivered."""
    return Undelivered.model_validate({"messages": [each.as_json() for each in await service.deliveries.failed()]})


@router.post("/deliveries/{number}/retry", response_model=Outcome)
async def retry(request: Request, number: RowId, service: BotsDependency) -> dict[str, bool]:
    """Try again what could not be delivered."""
    await require_owner(request, "Sending a message again")
    await service.deliveries.retry(number)
    return {"success": True}


@router.delete("/deliveries/{number}", response_model=Outcome)
async def discard(request: Request, number: RowId, service: BotsDependency) -> dict[str, bool]:
    """Give up what could not be delivered."""
    await require_owner(request, "Giving up a message")
    await service.deliveries.discard(number)
    return {"success": True}


@router.post("/{platform}/start", response_model=Outcome)
async def start(request: Request, platform: str, service: BotsDependency, who: CallerDependency) -> Any:
    """Have a bot run, from now on and after a restart."""

    async def started() -> dict[str, Any]:
        await require_owner(request, "Starting a bot")
        await service.switch_on(_platform(platform), f"{who.kind} {who.name}")
        return {}

    return await _outcome(started())


@router.post("/{platform}/stop", response_model=Outcome)
async def stop(request: Request, platform: str, service: BotsDependency, who: CallerDependency) -> Any:
    """Have a bot run no longer."""

    async def stopped() -> dict[str, Any]:
        await require_owner(request, "Stopping a bot")
        await service.switch_off(_platform(platform), f"{who.kind} {who.name}")
        return {}

    return await _outcome(stopped())


@router.post("/{platform}/test", response_model=TestOutcome)
async def test(request: Request, platform: str, service: BotsDependency) -> Any:
    """Ask the platform who the bot is, with the token that is kept."""

    async def tested() -> dict[str, Any]:
        await require_owner(request, "Trying a bot")
        identity = await service.identity(_platform(platform))
        return {"bot_name": identity.name, "bot_id": identity.id}

    return await _outcome(tested())


@router.put("/{platform}/token", response_model=Outcome)
async def set_token(
    request: Request, platform: str, body: NewToken, service: BotsDependency, who: CallerDependency
) -> dict[str, bool]:
    """Keep a bot's token in place of the one before."""
    await require_owner(request, "The token of a bot")
    await service.set_token(_platform(platform), body.token, f"{who.kind} {who.name}")
    return {"success": True}


@router.delete("/{platform}/token", response_model=Outcome)
async def remove_token(
    request: Request, platform: str, service: BotsDependency, who: CallerDependency
) -> dict[str, bool]:
    """Forget a bot's token, which stops it."""
    await require_owner(request, "The token of a bot")
    await service.remove_token(_platform(platform), f"{who.kind} {who.name}")
    return {"success": True}


@router.post("/{platform}/owner-code")
async def owner_code(request: Request, platform: str, service: BotsDependency) -> OwnerCode:
    """Make a code by which you show that a private chat is your own; it gives no rights but to be asked there."""
    await require_owner(request, "A code for your own chat")
    code, ends = service.owner_code(_platform(platform))
    return OwnerCode(code=code, command=f"{platform_of(platform).sign}owner {code}", ends=as_text(ends))


async def _outcome(work: Awaitable[dict[str, Any]]) -> Response:
    """The answer of what the app reads at any status: `success`, and `error` with the sentence."""
    try:
        return JSONResponse({"success": True, **await work})
    except ParachuteError as error:
        return JSONResponse({"success": False, "error": str(error), **error.as_json()}, error.status)


def _platform(word: str) -> Platform:
    if word in PLATFORMS:
        return word
    raise InvalidInput(f"platform: expected one of {', '.join(PLATFORMS)}, not {word[:40]!r}.", key="unknown_platform")
