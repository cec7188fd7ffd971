"""Routes of OAuth 2.1: where a client learns how to come in, registers, asks, and gets its tokens and gives them back."""

from typing import Annotated
from urllib.parse import urlencode, urlsplit

from fastapi import APIRouter, Depends, Request, Response
from mcp.server.auth.handlers.authorize import AuthorizationHandler
from mcp.server.auth.handlers.metadata import MetadataHandler, ProtectedResourceMetadataHandler
from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.handlers.revoke import RevocationHandler
from mcp.server.auth.handlers.token import TokenErrorResponse, TokenHandler
from mcp.server.auth.middleware.client_auth import ClientAuthenticator
from mcp.server.auth.provider import construct_redirect_uri
from mcp.server.auth.settings import ClientRegistrationOptions
from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata
from starlette.datastructures import FormData
from starlette.types import Message

from parachute.base.addresses import is_loopback
from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.services import provided
from parachute.security.mcp_clients.service import McpClients
from parachute.web.access.access import resource_of
from parachute.web.authorization.provider import Provider

router = APIRouter(tags=["mcp-clients"], include_in_schema=False)

ClientsDependency = Annotated[McpClients, Depends(provided(McpClients))]

_FORM = "application/x-www-form-urlencoded"


async def issuer(request: Request) -> str:
    """The address by which this computer was called, if tokens may travel to it: over TLS, or on this machine."""
    origin: str = request.scope["state"]["origin"]
    parts = urlsplit(origin)
    if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
        raise ParachuteError(
            "MCP clients sign in over an encrypted connection alone, or on this computer itself.",
            "Switch TLS on: parachute config set tls.enabled true",
            status=404,
            key="no_tls",
        )
    return origin


OriginDependency = Annotated[str, Depends(issuer)]


@router.get("/.well-known/oauth-protected-resource/mcp")
@router.get("/.well-known/oauth-protected-resource")
async def resource(request: Request, origin: OriginDependency) -> Response:
    """Describe `/mcp`, and who gives tokens for it (RFC 9728)."""
    # As text: an address that pydantic has made ends in a slash, and issuers are compared letter by letter.
    metadata = ProtectedResourceMetadata.model_validate(
        {
            "resource": resource_of(origin),
            "authorization_servers": [origin],
            "resource_name": "Parachute Computer",
        }
    )
    return _fresh(await ProtectedResourceMetadataHandler(metadata).handle(request))


@router.get("/.well-known/oauth-authorization-server")
async def server(request: Request, origin: OriginDependency) -> Response:
    """The addresses of this authorization server, and what it does (RFC 8414)."""
    metadata = OAuthMetadata.model_validate(
        {
            "issuer": origin,
            "authorization_endpoint": f"{origin}/oauth/authorize",
            "token_endpoint": f"{origin}/oauth/token",
            "registration_endpoint": f"{origin}/oauth/register",
            "revocation_endpoint": f"{origin}/oauth/revoke",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        }
    )
    return _fresh(await MetadataHandler(metadata).handle(request))


@router.get("/oauth/authorize")
async def authorize(request: Request, clients: ClientsDependency, origin: OriginDependency) -> Response:
    """Keep what a client asks for, and send the browser to the owner's screen."""
    clients.check()
    answer: Response = await AuthorizationHandler(Provider(clients, origin)).handle(request)
    place = answer.headers.get("location", "")
    if place and not place.startswith(f"{origin}/#/"):
        # The library leaves our name out of errors, which RFC 9207 (section 2) wants in them, too.
        answer.headers["location"] = construct_redirect_uri(place, iss=origin)
    answer.headers["referrer-policy"] = "no-referrer"
    return answer


@router.post("/oauth/register")
async def register(request: Request, clients: ClientsDependency, origin: OriginDependency) -> Response:
    """Register a client (RFC 7591): it may ask, and nothing else."""
    clients.check()
    options = ClientRegistrationOptions(enabled=True)
    return _fresh(await RegistrationHandler(Provider(clients, origin), options).handle(request))


@router.post("/oauth/token")
async def token(request: Request, clients: ClientsDependency, origin: OriginDependency) -> Response:
    """Tokens for a code, or for the last refresh token."""
    clients.check()
    form = await _form(request)
    provider = Provider(clients, origin)
    handler = TokenHandler(provider, ClientAuthenticator(provider))
    # The library reads what it is for and does not compare it (RFC 8707, section 2.2).
    if any(str(said).removesuffix("/") != resource_of(origin) for said in form.getlist("resource")):
        refusal = TokenErrorResponse(error="invalid_target", error_description="tokens are for this computer's /mcp")
        refused: Response = handler.response(refusal)
        return refused
    answer: Response = await handler.handle(request)
    return answer


@router.post("/oauth/revoke")
async def revoke(request: Request, clients: ClientsDependency, origin: OriginDependency) -> Response:
    """End the grant of a token (RFC 7009)."""
    clients.check()
    form = await _form(request)
    provider = Provider(clients, origin)
    answer: Response = await RevocationHandler(provider, ClientAuthenticator(provider)).handle(
        _with_secret(request, form)
    )
    return answer


async def _form(request: Request) -> FormData:
    """The fields that were sent; error: InvalidInput for one that came twice (RFC 6749, section 3.2)."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != _FORM:
        raise InvalidInput(f"Content-Type: {_FORM} is expected.", status=400, key="no_form")
    form = await request.form()
    if len(set(form)) != len(form.multi_items()):
        raise InvalidInput("A field came twice.", status=400, key="repeated_field")
    return form


def _with_secret(request: Request, form: FormData) -> Request:
    """The request with an empty secret: the library wants one to be named, also of clients that have none."""
    fields = {"client_secret": "", **{name: str(value) for name, value in form.items()}}
    body = urlencode(fields).encode()

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return Request(request.scope, receive)


def _fresh(answer: Response) -> Response:
    # An address that leads here today may lead elsewhere tomorrow.
    answer.headers["cache-control"] = "no-store"
    return answer
