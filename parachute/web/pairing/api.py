"""Routes of pairing: codes, signing in and out, and the browsers that are signed in."""

import asyncio
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator

from parachute.base.addresses import is_elsewhere
from parachute.base.answers import Done
from parachute.base.clock import as_text
from parachute.base.errors import NotAllowed
from parachute.base.services import provided, services_of
from parachute.config.settings.models import Settings
from parachute.security.audit.decisions import Decisions
from parachute.security.keys.browser_sessions import UNUSED, BrowserSessions
from parachute.security.keys.models import Caller, Key, Scope, ScopeNames, check_confirmed
from parachute.web.access.cookies import cookies, no_cookies, presented_session
from parachute.web.access.origins import is_own_page
from parachute.web.discovery.avahi import announced_name
from parachute.web.pairing.links import address_of, base_address, is_only_here, link, matrix
from parachute.web.pairing.models import SECONDS, WrongCode, shown
from parachute.web.pairing.names import name_of
from parachute.web.pairing.service import Pairing, Proof

router = APIRouter(prefix="/api/pairing", tags=["pairing"])

PairingDependency = Annotated[Pairing, Depends(provided(Pairing))]
BrowsersDependency = Annotated[BrowserSessions, Depends(provided(BrowserSessions))]

_Name = Annotated[str, Field(min_length=1, max_length=100)]


class NewCode(BaseModel):
    """The body of a request for a code; without `scopes` it gives all rights of its maker.

    `address` is the one of this computer that the device shall open.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    name: _Name | None = None
    address: Annotated[str, Field(max_length=64)] | None = None
    scopes: list[Annotated[str, Field(max_length=200)]] | None = Field(default=None, min_length=1, max_length=100)


class ProofBody(BaseModel):
    """A code or a key."""

    model_config = ConfigDict(extra="forbid", strict=True)

    code: str | None = Field(default=None, min_length=1, max_length=64)
    key: str | None = Field(default=None, min_length=1, max_length=512)

    @model_validator(mode="after")
    def _is_one(self) -> "ProofBody":
        if (self.code is None) == (self.key is None):
            raise ValueError("either `code` or `key` is needed")
        return self


class Confirmation(BaseModel):
    """A code, a key, or the password on the emergency kit (`kit`)."""

    model_config = ConfigDict(extra="forbid", strict=True)

    code: str | None = Field(default=None, min_length=1, max_length=64)
    key: str | None = Field(default=None, min_length=1, max_length=512)
    kit: str | None = Field(default=None, min_length=1, max_length=1000)

    @model_validator(mode="after")
    def _is_one(self) -> "Confirmation":
        if sum(each is not None for each in (self.code, self.key, self.kit)) != 1:
            raise ValueError("either `code`, `key` or `kit` is needed")
        return self


class SignIn(ProofBody):
    """A code or a key, and what the browser shall be called."""

    name: _Name | None = None


class NewName(BaseModel):
    """Another name of a browser."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: _Name


class CodeAnswer(BaseModel):
    """A code, the address that has it in it, and that address as rows of squares, 1 for dark, with its light margin.

    There are no rows for an address that only this computer reaches.
    """

    id: str
    code: str
    name: str | None
    scopes: list[str]
    expires_at: str
    url: str
    qr: list[list[int]]


class AddressAnswer(BaseModel):
    """The address of this computer for other devices; `is_reachable` is false while it listens to itself alone."""

    url: str
    is_reachable: bool


class Me(BaseModel):
    """Caller: `kind` is null for somebody without any rights, `needs` what lets a browser in that is not signed in.

    `set_up` is for those with admin rights: whether this computer was set up, null for others and where that is not known.
    `program` is what to type for `parachute` on this computer, for a page that is open there.
    """

    signed_in: bool
    kind: Literal["session", "key", "local"] | None
    name: str | None
    id: str | None
    scopes: list[str]
    admin: bool
    confirmed_until: str | None
    needs: Literal["code"] | None
    set_up: bool | None
    program: str | None


class Session(BaseModel):
    """A browser that is signed in; unused it ends at `expires_at`, and `signed_in_with` is the key without which it does.

    `address` is where it was used last, and `is_elsewhere` that this was another device.
    """

    id: str
    name: str
    scopes: list[str]
    created_at: str
    last_seen_at: str | None
    expires_at: str
    signed_in_with: str | None
    address: str | None
    is_elsewhere: bool
    is_current: bool


class SessionList(BaseModel):
    """All browsers that are signed in."""

    sessions: list[Session]


@router.get("/me")
async def me(request: Request, response: Response, service: PairingDependency, browsers: BrowsersDependency) -> Me:
    """Caller and its rights, also for callers without credentials; a browser's cookie is renewed."""
    caller = _caller(request)
    response.headers["cache-control"] = "no-store"
    if caller.kind == "browser":
        sent = [value for name, value in request.scope["headers"] if name == b"cookie"]
        if presented := presented_session(sent, request.scope["scheme"]):
            _set(response, cookies(*presented))
    return await _me(caller, service, browsers)


@router.post("/codes")
async def make_code(request: Request, body: NewCode, service: PairingDependency) -> CodeAnswer:
    """A code for another browser, good once and for five minutes, with no more rights than the caller has."""
    services = services_of(request)
    scopes = None if body.scopes is None else tuple(map(Scope.parse, body.scopes))
    if scopes is not None:
        await asyncio.to_thread(services.get(ScopeNames).check, scopes)
    settings = services.get(Settings)
    if body.address is None:
        base = base_address(_own_address(request), settings.host, settings.port, await announced_name())
    else:
        base = address_of(body.address, settings.host, settings.port)
    code, characters = service.make_code(_caller(request), body.name, scopes)
    url = link(base, shown(characters))
    return CodeAnswer(
        id=code.id,
        code=shown(characters),
        name=code.name,
        scopes=[str(scope) for scope in code.scopes],
        expires_at=_later(SECONDS),
        url=url,
        qr=[] if is_only_here(base) else matrix(url),
    )


@router.get("/address")
async def address(request: Request) -> AddressAnswer:
    """The address at which other devices reach this computer, and whether any can."""
    settings = services_of(request).get(Settings)
    url = base_address(_own_address(request), settings.host, settings.port, await announced_name())
    return AddressAnswer(url=url, is_reachable=not is_only_here(url))


@router.delete("/codes/{identifier}")
async def cancel_code(identifier: str, service: PairingDependency) -> Done:
    """End a code before its time."""
    service.cancel_code(identifier)
    return Done()


@router.post("/sign-in")
async def sign_in(
    request: Request, response: Response, body: SignIn, service: PairingDependency, browsers: BrowsersDependency
) -> Me:
    """Sign a browser in with a code, or with a key; the cookie of the answer is all that it keeps."""
    fallback = name_of(request.headers.get("user-agent", ""))
    proof = _proof(request, body)
    try:
        made, secret = await asyncio.to_thread(service.sign_in, proof, body.name, fallback, _caller(request))
    except WrongCode:
        _record(request)
        raise
    # So the audit log says which browser it was that came in.
    caller = Caller("browser", made.label, made.scopes, True, made.id)
    request.scope["state"]["caller"] = caller
    response.headers["cache-control"] = "no-store"
    _set(response, cookies(secret, (_own_address(request) or request.scope["scheme"]).startswith("https")))
    return await _me(caller, service, browsers)


@router.post("/sign-out")
async def sign_out(request: Request, response: Response, browsers: BrowsersDependency) -> Done:
    """Sign this browser out; the one that is not signed in any more loses its cookie."""
    caller = _caller(request)
    if caller.kind == "browser" and caller.key is not None:
        await asyncio.to_thread(browsers.revoke, caller.key)
    _set(response, no_cookies())
    return Done()


@router.post("/confirm")
async def confirm(request: Request, body: Confirmation, service: PairingDependency, browsers: BrowsersDependency) -> Me:
    """Confirm that the owner sits before this browser, for ten minutes: with a code of another device, a key, or the emergency kit."""
    caller = _caller(request)
    proof = Proof(body.code, body.key, request.scope["state"]["client_address"], body.kit)
    try:
        await asyncio.to_thread(service.confirm, caller, proof)
    except WrongCode:
        _record(request)
        raise
    return await _me(caller, service, browsers)


@router.get("/sessions")
async def list_sessions(request: Request, browsers: BrowsersDependency) -> SessionList:
    """The browsers that are signed in."""
    own = _caller(request).key

    def listed() -> list[Session]:
        return [_session(each, browsers.address_of(each.id), is_current=each.id == own) for each in browsers.list()]

    return SessionList(sessions=await asyncio.to_thread(listed))


@router.patch("/sessions/{identifier}")
async def rename_session(request: Request, identifier: str, body: NewName, browsers: BrowsersDependency) -> Done:
    """Give a browser another name; everybody may rename their own, and with admin rights the others."""
    _check_own(_caller(request), identifier)
    await asyncio.to_thread(browsers.rename, identifier, body.name)
    return Done()


@router.delete("/sessions/{identifier}")
async def end_session(request: Request, identifier: str, browsers: BrowsersDependency) -> Done:
    """Sign a browser out at once; everybody may end their own, and with admin rights the others."""
    _check_own(_caller(request), identifier)
    await asyncio.to_thread(browsers.revoke, identifier)
    return Done()


def _check_own(caller: Caller, identifier: str) -> None:
    """Errors: NotAllowed, ParachuteError (`confirmation_needed`) for a browser of others."""
    if caller.kind == "browser" and caller.key == identifier:
        return
    if not caller.may("auth", "admin"):
        raise NotAllowed(
            "This is another browser, which needs admin rights.",
            "You can rename and sign out your own.",
            key="not_own_browser",
        )
    check_confirmed(caller)


def _caller(request: Request) -> Caller:
    found: Caller = request.scope["state"]["caller"]
    return found


def _proof(request: Request, body: ProofBody) -> Proof:
    return Proof(body.code, body.key, request.scope["state"]["client_address"])


def _record(request: Request) -> None:
    if decisions := services_of(request).find(Decisions):
        decisions.record(f"from {request.scope['state']['client_address']}", "wrong_code")


async def _me(caller: Caller, service: Pairing, browsers: BrowserSessions) -> Me:
    is_browser = caller.kind == "browser"
    seconds = browsers.confirmed_for(caller.key) if is_browser and caller.key else 0.0
    has_shown_one = caller.kind in ("browser", "key", "cli")
    kinds: dict[str, Literal["session", "key", "local"]] = {
        "browser": "session",
        "key": "key",
        "cli": "local",
        "local": "local",
    }
    return Me(
        signed_in=has_shown_one,
        kind=kinds.get(caller.kind),
        name=caller.name if has_shown_one else None,
        id=caller.key,
        scopes=[str(scope) for scope in caller.scopes],
        admin=caller.may("auth", "admin"),
        confirmed_until=_later(seconds) if seconds else None,
        needs=None if has_shown_one else "code",
        set_up=await asyncio.to_thread(service.is_set_up) if caller.may("setup", "admin") else None,
        program=await asyncio.to_thread(_program) if caller.kind == "local" else None,
    )


def _program() -> str:
    path = Path(sys.prefix, "bin", "parachute")
    return shlex.quote(str(path)) if path.exists() else "parachute"


def _session(found: Key, address: str | None, *, is_current: bool) -> Session:
    return Session(
        id=found.id,
        name=found.label,
        scopes=[str(scope) for scope in found.scopes],
        created_at=as_text(found.created_at or found.since),
        last_seen_at=as_text(found.last_used_at) if found.last_used_at else None,
        expires_at=as_text(found.since + UNUSED),
        signed_in_with=found.parent,
        address=address,
        is_elsewhere=is_elsewhere(address),
        is_current=is_current,
    )


def _later(seconds: float) -> str:
    return as_text(datetime.now(UTC) + timedelta(seconds=seconds))


def _own_address(request: Request) -> str | None:
    """The address by which a browser reaches us, as it says itself, also of a proxy before us; None for other callers."""
    origin = request.headers.get("origin", "")
    is_ours = is_own_page(origin, request.scope["scheme"], request.headers.get("host", ""))
    return origin if is_ours else None


def _set(response: Response, headers: Sequence[str]) -> None:
    for each in headers:
        response.headers.append("set-cookie", each)
