"""Routes of API keys (contract, section 7)."""

import asyncio
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from msgspec.structs import asdict
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.addresses import is_elsewhere, is_loopback
from parachute.base.answers import Answer, Done
from parachute.base.services import provided, services_of
from parachute.config.settings.models import AuthMode, Settings
from parachute.security.keys.models import FULL_ACCESS, Key, Scope, ScopeNames, check_grant
from parachute.security.keys.service import Keys

router = APIRouter(prefix="/api/auth", tags=["keys"])


KeysDependency = Annotated[Keys, Depends(provided(Keys))]


class NewKey(BaseModel):
    """The body of a request for a new key."""

    model_config = ConfigDict(extra="ignore", strict=True)

    label: str = Field(min_length=1, max_length=100)
    scopes: list[Annotated[str, Field(max_length=200)]] | None = Field(default=None, min_length=1, max_length=100)


class ShownKey(Answer, frozen=True):
    """A key without its secret; null for a time that nobody knows, as of a key that was written by hand.

    `address` is where it was used last, and `is_elsewhere` that this was another device.
    """

    id: str
    label: str
    created_at: datetime | None
    last_used_at: datetime | None
    scopes: list[str]
    address: str | None
    is_elsewhere: bool


class KeyWithSecret(ShownKey, frozen=True):
    """A key that was just made."""

    key: str


class KeyList(Answer, frozen=True):
    """All keys, and who needs one."""

    keys: list[ShownKey]
    auth_mode: AuthMode


class AuthSettings(Answer, frozen=True):
    """Mode of authentication, and the number of keys."""

    require_auth: AuthMode
    key_count: int


@router.get("/keys")
async def list_keys(request: Request, service: KeysDependency) -> KeyList:
    """All keys, without their secrets."""
    settings = services_of(request).get(Settings)
    keys = await asyncio.to_thread(lambda: [_shown(key, service.address_of(key.id)) for key in service.list()])
    return KeyList(keys=keys, auth_mode=settings.auth_mode)


@router.post("/keys")
async def create_key(request: Request, body: NewKey, service: KeysDependency) -> KeyWithSecret:
    """A new key, with all rights unless `scopes` names them, and never more than the caller has; its secret is in this answer and nowhere else."""
    scopes = FULL_ACCESS if body.scopes is None else tuple(map(Scope.parse, body.scopes))
    check_grant(request.scope["state"]["caller"], scopes)
    await asyncio.to_thread(services_of(request).get(ScopeNames).check, scopes)
    key, secret = await asyncio.to_thread(service.create, body.label, scopes)
    return KeyWithSecret(**asdict(_shown(key)), key=secret)


@router.delete("/keys/{identifier}")
async def revoke_key(request: Request, identifier: str, service: KeysDependency) -> Done:
    """Take a key's rights away, at once; 409 for the last one with admin rights where that would lock others out."""
    settings = services_of(request).get(Settings)
    # Programs of the owner need no key on a computer that listens on loopback alone.
    is_needed = not is_loopback(settings.host) or settings.auth_mode == "always"
    await asyncio.to_thread(service.revoke, identifier, keep_admin=is_needed)
    return Done()


@router.get("/settings")
async def auth_settings(request: Request, service: KeysDependency) -> AuthSettings:
    """Return who needs a key, and how many there are."""
    settings = services_of(request).get(Settings)
    return AuthSettings(require_auth=settings.auth_mode, key_count=len(await asyncio.to_thread(service.list)))


def _shown(key: Key, address: str | None = None) -> ShownKey:
    return ShownKey(
        id=key.id,
        label=key.label,
        created_at=key.created_at,
        last_used_at=key.last_used_at,
        scopes=[str(scope) for scope in key.scopes],
        address=address,
        is_elsewhere=is_elsewhere(address),
    )
