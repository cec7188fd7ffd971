"""Routes of bots (contract, section 8). An error of theirs has its sentence in `error`, too, where the app looks for it."""

from collections.abc import Awaitable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.clock import as_text
from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.services import provided
from parachute.chat.sessions.api import CallerDependency
from parachute.connectors.bots.service import Bots
from parachute.connectors.configuration.models import (
    PLATFORMS,
    ConfigurationChanges,
    NoticeSettings,
    Platform,
    ResponseMode,
)
from parachute.connectors.pairing.service import Approval, Pairing
from parachute.web.access.owner import require_owner

router = APIRouter(prefix="/api/bots", tags=["bots"])

BotsDependency = Annotated[Bots, Depends(provided(Bots))]
PairingDependency = Annotated[Pairing, Depends(provided(Pairing))]


class ConnectorStatus(BaseModel):
    """What one bot is doing: `reason` says why it does not run, or waits; `unsent` is still tried, `undelivered` no more."""

    running: bool
    enabled: bool
    has_token: bool
    is_available: bool
    state: Literal["stopped", "connecting", "connected", "waiting", "refused"]
    reason: str | None
    bot_name: str | None
    waiting_messages: int
    unsent: int
    undelivered: int


class BotsStatus(BaseModel):
    """All bots by platform."""

    connectors: dict[str, ConnectorStatus]


class BotConfigurationShown(BaseModel):
    """The settings of one bot; a token is never shown."""

    enabled: bool
    has_token: bool
    dm_trust_level: str
    group_trust_level: str
    allowed_users: list[int | str]
    template: str
    daily_dollars: float | None
    daily_tokens: int | None
    server_url: str


class RoomBotConfigurationShown(BaseModel):
    """The settings of the bot of Matrix."""

    enabled: bool
    has_token: bool
    dm_trust_level: str
    group_trust_level: str
    homeserver_url: str
    user_id: str
    allowed_rooms: list[str]
    template: str
    daily_dollars: float | None
    daily_tokens: int | None


class ConfigurationShown(BaseModel):
    """The settings of all bots."""

    language: Literal["en", "de"]
    notices: NoticeSettings
    telegram: BotConfigurationShown
    discord: BotConfigurationShown
    matrix: RoomBotConfigurationShown


class Outcome(BaseModel):
    """Whether it was done, and if not, why."""

    success: bool
    error: str | None = None


class TestOutcome(Outcome):
    """Who the platform says the bot is."""

    bot_name: str | None = None
    bot_id: str | None = None


class PairingRequestShown(BaseModel):
    """Somebody who wants to talk to a bot: `name` and `title` are what they call themselves; a group has no code."""

    id: str
    platform: Platform
    chat_id: str
    chat_type: Literal["dm", "group"]
    user_id: str
    name: str
    title: str
    code: str | None
    session_id: str
    since: str
    ends: str


class PairingRequests(BaseModel):
    """Everybody who waits, the oldest first."""

    requests: list[PairingRequestShown]


class PairingCount(BaseModel):
    """How many wait."""

    pending: int


class LinkedChatShown(BaseModel):
    """A chat that may talk to a bot; `usage_subject` is whose limit of spending holds for it."""

    platform: Platform
    chat_id: str
    chat_type: Literal["dm", "group"]
    title: str
    session_id: str | None
    template: str
    approved_at: str
    approved_by: str
    is_owner: bool
    usage_subject: str


class LinkedChats(BaseModel):
    """Every chat that was let in."""

    chats: list[LinkedChatShown]


class Approved(Outcome):
    """The chat that was let in."""

    chat: LinkedChatShown | None = None


class OwnerCode(BaseModel):
    """A code for the owner's own private chat, where `/owner CODE` takes it within ten minutes."""

    code: str
    ends: str


class DeliveryShown(BaseModel):
    """A message that could not be delivered, and why."""

    id: int
    platform: Platform
    chat_id: str
    text: str
    problem: str | None
    tries: int
    since: str


class Undelivered(BaseModel):
    """What could not be delivered, the newest first."""

    messages: list[DeliveryShown]


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class NewToken(_Body):
    """A bot's token."""

    token: str = Field(min_length=1, max_length=4096)


class ApprovalBody(_Body):
    """With a yes: a trust word, of which only `sandboxed` lets others in, a template of permissions, and how a group is answered."""

    trust_level: str | None = Field(default=None, max_length=40)
    template: str | None = Field(default=None, max_length=40)
    response_mode: ResponseMode | None = None
    mention_pattern: str | None = Field(default=None, max_length=500)


@router.get("/status")
async def get_status(service: BotsDependency) -> BotsStatus:
    """What each bot is doing."""
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
    """How many wait to be let in; the app asks every half a minute."""
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
    await require_owner(request, "Letting somebody in no longer")
    await service.unlink(_platform(platform), chat, f"{who.kind} {who.name}")
    return {"success": True}


@router.get("/deliveries")
async def list_undelivered(service: BotsDependency) -> Undelivered:
    """What could not be delivered."""
    return Undelivered.model_validate({"messages": [each.as_json() for each in await service.deliveries.failed()]})


@router.post("/deliveries/{number}/retry", response_model=Outcome)
async def retry(request: Request, number: int, service: BotsDependency) -> dict[str, bool]:
    """Try again what could not be delivered."""
    await require_owner(request, "Sending a message again")
    await service.deliveries.retry(number)
    return {"success": True}


@router.delete("/deliveries/{number}", response_model=Outcome)
async def discard(request: Request, number: int, service: BotsDependency) -> dict[str, bool]:
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
    return OwnerCode(code=code, ends=as_text(ends))


async def _outcome(work: Awaitable[dict[str, Any]]) -> Response:
    """The answer of what the app reads at any status: `success`, and `error` with the sentence."""
    try:
        return JSONResponse({"success": True, **await work})
    except ParachuteError as error:
        return JSONResponse({"success": False, "error": str(error), **error.as_json()}, error.status)


def _platform(word: str) -> Platform:
    for platform in PLATFORMS:
        if platform == word:
            return platform
    raise InvalidInput(f"platform: expected one of {', '.join(PLATFORMS)}, not {word[:40]!r}.", key="unknown_platform")
