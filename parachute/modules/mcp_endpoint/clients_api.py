"""Routes of MCP clients: what asks to come in, what each was granted and got, and how one is connected and ended."""

import asyncio
from datetime import date, datetime
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.addresses import is_loopback
from parachute.base.answers import Answer, Done
from parachute.base.services import provided, services_of
from parachute.config.settings.models import Settings
from parachute.modules.mcp_endpoint import options
from parachute.modules.mcp_endpoint.bundle import bundle
from parachute.modules.mcp_endpoint.receipts import EVENT, Sum
from parachute.modules.mcp_endpoint.service import McpEndpoint
from parachute.modules.runtime.service import Hosts
from parachute.security.audit import reading
from parachute.security.audit.reading import Filter, Page
from parachute.security.audit.service import Audit
from parachute.security.keys.models import Caller
from parachute.security.mcp_clients.models import Grant, Limits
from parachute.security.mcp_clients.service import McpClients
from parachute.web.access.access import resource_of
from parachute.web.pairing.links import is_only_here, matrix
from parachute.web.tls.service import Tls

router = APIRouter(prefix="/api/mcp-clients", tags=["mcp-clients"])

ClientsDependency = Annotated[McpClients, Depends(provided(McpClients))]
EndpointDependency = Annotated[McpEndpoint, Depends(provided(McpEndpoint))]
HostsDependency = Annotated[Hosts, Depends(provided(Hosts))]
AuditDependency = Annotated[Audit, Depends(provided(Audit))]

_Name = Annotated[str, Field(min_length=1, max_length=300)]
_Some = Annotated[list[_Name], Field(max_length=300)]


class NewLimits(BaseModel):
    """Limits that a client shall have: `*` stands for all of a list, and `-` among workspaces for conversations in none."""

    model_config = ConfigDict(extra="forbid")

    tools: Annotated[list[_Name], Field(min_length=1, max_length=300)]
    folders: _Some
    kinds: _Some
    workspaces: _Some
    since: date | None
    until: date | None
    ends_on: date
    bytes_a_day: int = Field(ge=1000, le=1_000_000_000, strict=True)

    def limits(self) -> Limits:
        """The same, as it is kept."""
        lists = {name: tuple(getattr(self, name)) for name in ("tools", "folders", "kinds", "workspaces")}
        return Limits(**lists, since=self.since, until=self.until, ends_on=self.ends_on, bytes_a_day=self.bytes_a_day)


class ShownLimits(Answer, frozen=True):
    """Limits of a client."""

    tools: list[str]
    folders: list[str]
    kinds: list[str]
    workspaces: list[str]
    since: date | None
    until: date | None
    ends_on: date
    bytes_a_day: int


class Got(Answer, frozen=True):
    """Answers of tools, and what left in them."""

    answers: int
    bytes: int
    sentences: int


class ShownClient(Answer, frozen=True):
    """A client as it called itself, the host to which its browser went back, since when, and what it got today."""

    id: str
    name: str
    returns_to: str
    address: str
    since: datetime
    last_request: datetime | None
    limits: ShownLimits
    today: Got


class ClientWithSum(ShownClient, frozen=True):
    """A client, and what it got as far back as records are kept."""

    total: Got


class ClientList(Answer, frozen=True):
    """Every client that may come in."""

    clients: list[ShownClient]


class ShownRequest(Answer, frozen=True):
    """A request for consent: the name is what the program says; `is_here` that the browser goes back to a program on its own machine."""

    id: str
    name: str
    returns_to: str
    is_here: bool
    address: str


class BrowserAddress(Answer, frozen=True):
    """The address to which the browser goes back."""

    address: str


class Connecting(Answer, frozen=True):
    """Ways to connect a program at the address called; without `can_sign_in` it has neither TLS nor is it this machine's. `qr` is empty where no other device gets there."""

    address: str
    can_sign_in: bool
    claude_code: str
    inspector: str
    certificate: str | None
    qr: list[list[int]]


@router.get("")
async def clients(service: ClientsDependency, endpoint: EndpointDependency) -> ClientList:
    """The clients, the newest first."""
    return ClientList([await _shown(endpoint, each) for each in service.list()])


@router.get("/connect")
async def connect(request: Request) -> Connecting:
    """The line that connects a program at the address of this request."""
    origin: str = request.scope["state"]["origin"]
    address, authority = resource_of(origin), _authority(request, origin)
    trust = "NODE_EXTRA_CA_CERTS=parachute.crt " if authority else ""
    return Connecting(
        address,
        can_sign_in=_can_sign_in(origin),
        claude_code=f"{trust}claude mcp add --transport http parachute {address}",
        inspector=f"{trust}npx @modelcontextprotocol/inspector --cli {address} --method tools/list",
        certificate=f"{origin}/tls/ca.crt" if authority else None,
        qr=[] if is_only_here(address) else await asyncio.to_thread(matrix, address),
    )


@router.get("/bundle", response_class=Response)
async def download(request: Request) -> Response:
    """The bundle for Claude Desktop (`.mcpb`) at the address of this request."""
    origin: str = request.scope["state"]["origin"]
    content = await asyncio.to_thread(bundle, resource_of(origin), _authority(request, origin))
    headers = {"content-disposition": 'attachment; filename="parachute.mcpb"', "cache-control": "no-store"}
    return Response(content, headers=headers, media_type="application/zip")


@router.get("/options")
async def offered(
    request: Request, service: ClientsDependency, endpoint: EndpointDependency, hosts: HostsDependency
) -> options.Options:
    """Everything that can be in a grant."""
    vault = services_of(request).get(Settings).vault
    today = service.clock.today()
    return options.Options(
        options.choices(hosts.tools(), endpoint.resources.offers),
        await asyncio.to_thread(options.folders, vault),
        await options.kinds(hosts),
        [options.NamedWorkspace(slug, name) for slug, name in endpoint.outside.workspaces()],
        today,
        options.last_day(today),
    )


@router.get("/requests/{request}")
async def asked(request: str, service: ClientsDependency) -> ShownRequest:
    """A request that waits for the owner."""
    found = service.codes.asked(request)
    parts = urlsplit(found.redirect)
    return ShownRequest(found.id, found.client.name, parts.netloc, is_loopback(parts.hostname or ""), found.resource)


@router.post("/requests/{request}/agree")
async def agree(
    request: str,
    body: NewLimits,
    service: ClientsDependency,
    endpoint: EndpointDependency,
    hosts: HostsDependency,
    audit: AuditDependency,
    call: Request,
) -> BrowserAddress:
    """Agree to a request with these limits: the program gets a code for them by the browser."""
    from parachute.web.authorization.provider import agree  # with all of the library, hardly ever

    limits = options.checked(body.limits(), hosts.tools(), endpoint.resources.offers, service.clock.today())
    name = service.codes.asked(request).client.name
    address = agree(service, request, limits)
    _decided(audit, call.scope["state"]["caller"], "approval", name)
    return BrowserAddress(address)


@router.post("/requests/{request}/refuse")
async def refuse(request: str, service: ClientsDependency) -> BrowserAddress:
    """Refuse a request: the program is told so by the browser."""
    from parachute.web.authorization.provider import address_of_refusal

    return BrowserAddress(address_of_refusal(service.codes.refuse(request)))


@router.get("/{client}")
async def show(client: str, service: ClientsDependency, endpoint: EndpointDependency) -> ClientWithSum:
    """One client, and all that it got."""
    grant = service.get(client)
    shown = await _shown(endpoint, grant)
    return ClientWithSum(
        shown.id,
        shown.name,
        shown.returns_to,
        shown.address,
        shown.since,
        shown.last_request,
        shown.limits,
        shown.today,
        total=_got(await endpoint.receipts.sum(grant.label)),
    )


@router.get("/{client}/requests")
async def requests(
    client: str,
    service: ClientsDependency,
    audit: AuditDependency,
    limit: int = Query(reading.PAGE, ge=1, le=reading.MOST),
    before: str | None = Query(None, max_length=40),
) -> Page:
    """Receipts of what a client asked and got, newest first; `next` is the `before` of the next page, null at the end."""
    wanted = Filter(source=service.get(client).label, event=EVENT)
    await audit.written()
    return await asyncio.to_thread(reading.page, audit.days, wanted, limit, before)


@router.put("/{client}/limits")
async def change(
    client: str,
    body: NewLimits,
    call: Request,
    service: ClientsDependency,
    endpoint: EndpointDependency,
    hosts: HostsDependency,
    audit: AuditDependency,
) -> ShownClient:
    """Give a client other limits, which hold for its next request."""
    limits = options.checked(body.limits(), hosts.tools(), endpoint.resources.offers, service.clock.today())
    changed = await service.narrow(client, limits)
    _decided(audit, call.scope["state"]["caller"], "approval", changed.label)
    return await _shown(endpoint, changed)


@router.delete("/{client}")
async def end(client: str, request: Request, service: ClientsDependency, audit: AuditDependency) -> Done:
    """End what a client was granted, at once: its tokens, and answers that are on their way."""
    grant, caller = service.get(client), request.scope["state"]["caller"]
    await service.end(grant.id)
    _decided(audit, caller, "withdrawal", grant.label)
    return Done()


def _decided(audit: Audit, caller: Caller, kind: str, what: str) -> None:
    audit.append(
        event_type=kind,
        source_type="user",
        source_id=f"{caller.kind} {caller.name}",
        target_module="mcp_client",
        target_endpoint=what,
    )


async def _shown(endpoint: McpEndpoint, grant: Grant) -> ShownClient:
    return ShownClient(
        grant.id,
        grant.client.name,
        urlsplit(grant.client.redirects[0]).netloc,
        grant.resource,
        grant.given,
        grant.used,
        ShownLimits.showing(grant.limits),
        _got(await endpoint.receipts.today(grant.label)),
    )


def _got(found: Sum) -> Got:
    return Got(found.answers, found.bytes, found.sentences)


def _can_sign_in(origin: str) -> bool:
    parts = urlsplit(origin)
    return parts.scheme == "https" or is_loopback(parts.hostname or "")


def _authority(request: Request, origin: str) -> str | None:
    """The certificate (PEM) that a program has to trust at this address, None if it needs none of ours."""
    tls = services_of(request).get(Tls)
    if not origin.startswith("https:") or tls.issued is None:
        return None
    return tls.issued.authority.pem
