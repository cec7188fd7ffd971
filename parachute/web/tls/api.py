"""Routes: `/api/tls`, and the authority's certificate for devices that are to trust it."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict

from parachute.base.errors import NotFound
from parachute.base.services import provided, services_of
from parachute.config.settings.models import Settings
from parachute.security.keys.models import Caller
from parachute.web.access.owner import require_owner
from parachute.web.first_boot.addresses import addresses
from parachute.web.tls import models
from parachute.web.tls.profile import MEDIA_TYPE, profile
from parachute.web.tls.service import Tls

router = APIRouter(tags=["tls"])

TlsDependency = Annotated[Tls, Depends(provided(Tls))]


class Certificate(BaseModel):
    """A certificate that this computer shows: `fingerprint` is its SHA-256 in groups."""

    names: list[str]
    fingerprint: str
    starts_at: str
    expires_at: str


class Authority(BaseModel):
    """Authority of this home: `permitted` are the names and networks that it may sign, `download` and `profile` its certificate."""

    name: str
    fingerprint: str
    expires_at: str
    permitted: list[str]
    download: str
    profile: str


class TlsStatus(BaseModel):
    """`ready` if https:// is answered; `own` is the certificate for a name of the owner's."""

    enabled: bool
    ready: bool
    urls: list[str]
    authority: Authority | None
    certificate: Certificate | None
    own: Certificate | None
    renews_at: datetime | None
    problems: list[str]


class Renewal(BaseModel):
    """With `authority` another authority is made, too, which each device then has to trust."""

    model_config = ConfigDict(extra="forbid", strict=True)

    authority: bool = False


@router.get("/api/tls")
async def status(request: Request, service: TlsDependency) -> TlsStatus:
    """The certificate, who signed it, and the fingerprint to compare; needs no key."""
    return _status(request, service)


@router.post("/api/tls/renew")
async def renew(request: Request, body: Renewal, service: TlsDependency) -> TlsStatus:
    """Make the certificate anew, and use it for connections from now on."""
    await require_owner(request, "Making certificates")
    await service.renew(anew=body.authority)
    return _status(request, service)


@router.get("/tls/ca.crt", response_class=Response)
async def certificate(service: TlsDependency) -> Response:
    """The authority's certificate (PEM), for a device that is to trust it."""
    return _file(_authority(service).pem.encode(), "application/x-x509-ca-cert", "parachute.crt")


@router.get("/tls/ca.mobileconfig", response_class=Response)
async def apple_profile(service: TlsDependency) -> Response:
    """The same as a profile for iPhone, iPad and Mac."""
    return _file(profile(_authority(service)), MEDIA_TYPE, "parachute.mobileconfig")


def _authority(service: Tls) -> models.Authority:
    if service.issued is None:
        raise NotFound("This computer has no authority yet.", "`parachute tls status` says why.", key="no_authority")
    return service.issued.authority


def _file(content: bytes, media_type: str, name: str) -> Response:
    # Not as an attachment: Safari and Firefox then offer to install it, and do not only keep the file.
    headers = {"content-disposition": f'inline; filename="{name}"', "cache-control": "no-store"}
    return Response(content, headers=headers, media_type=media_type)


def _status(request: Request, service: Tls) -> TlsStatus:
    settings = services_of(request).get(Settings)
    caller: Caller = request.scope["state"]["caller"]
    issued = service.issued
    ready = service.context is not None
    name = next((each for each in issued.certificate.names if each.endswith(".local")), None) if issued else None
    urls = addresses(settings.host, settings.port, name, "https") if ready else []
    return TlsStatus(
        enabled=service.enabled,
        ready=ready,
        urls=urls,
        authority=_authority_of(issued.authority) if issued else None,
        certificate=_certificate_of(issued.certificate) if issued else None,
        own=_certificate_of(issued.own) if issued and issued.own else None,
        renews_at=service.renews_at,
        # Strangers are not told which files there are.
        problems=service.problems if caller.kind != "anonymous" else [],
    )


def _authority_of(authority: models.Authority) -> Authority:
    return Authority(
        name=authority.name,
        fingerprint=authority.fingerprint,
        expires_at=authority.expires_at,
        permitted=list(authority.permitted),
        download="/tls/ca.crt",
        profile="/tls/ca.mobileconfig",
    )


def _certificate_of(certificate: models.Certificate) -> Certificate:
    return Certificate(
        names=list(certificate.names),
        fingerprint=certificate.fingerprint,
        starts_at=certificate.starts_at,
        expires_at=certificate.expires_at,
    )
