"""Discovery of a server's way to sign in, by its own metadata; each claim is checked against who makes it.

The library's own client begins to sign in within a request of the agent, forgets when a token ends and where it is refreshed
(modelcontextprotocol/python-sdk#3250), and asks every host that is named: its models and its checks are used here, its flow is not.
Imports the library of MCP: import it in functions.
"""

import httpx2
from mcp.client.auth.exceptions import OAuthRegistrationError
from mcp.client.auth.oauth2 import check_registration_usable
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    create_client_registration_request,
    create_oauth_metadata_request,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
    get_client_metadata_scopes,
    handle_auth_metadata_response,
    handle_protected_resource_response,
    handle_registration_response,
    issuers_match,
)
from mcp.shared.auth import OAuthClientMetadata, OAuthMetadata, ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from msgspec import Struct
from pydantic import AnyUrl

from parachute.base.errors import Conflict
from parachute.capabilities.mcp_servers import addresses
from parachute.capabilities.mcp_servers.logins.errors import LoginFailed
from parachute.capabilities.mcp_servers.logins.models import Registration
from parachute.capabilities.mcp_servers.logins.requests import Requests
from parachute.capabilities.mcp_servers.models import Server

_PROBE = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
_GRANTS = ["authorization_code", "refresh_token"]
_IN_THE_HEADER = "client_secret_basic"
_CLIENT = "Parachute Computer"


class Discovered(Struct, frozen=True):
    """Metadata of a server and its authorization server; `resource` is the audience of tokens."""

    resource: str
    metadata: OAuthMetadata
    issuer: str
    scope: str | None


async def discover(requests: Requests, server: Server, headers: dict[str, str]) -> Discovered:
    """Ask a server where one signs in; errors: Conflict if it lets everybody in, LoginFailed, Unavailable."""
    challenge = await _challenge(requests, server, headers)
    described = await _described(requests, server, challenge)
    issuer = str(described.authorization_servers[0]) if described else addresses.parse(server.url).origin
    requests.address(issuer, "its authorization server")
    metadata = await _metadata(requests, server, issuer, is_named=described is not None)
    if "S256" not in (metadata.code_challenge_methods_supported or ()):
        raise LoginFailed(f"{issuer} does not support PKCE with S256, which logins require.", key="no_pkce")
    requests.shown(str(metadata.authorization_endpoint), "its page for signing in")
    requests.address(str(metadata.token_endpoint), "its tokens")
    scope = get_client_metadata_scopes(extract_scope_from_www_auth(challenge), described, metadata, _GRANTS)
    resource = str(described.resource) if described else resource_url_from_server_url(server.url)
    return Discovered(resource, metadata, str(metadata.issuer), scope)


async def register(requests: Requests, found: Discovered, redirect: str) -> Registration:
    """Have an authorization server know us; errors: LoginFailed, Unavailable."""
    metadata = found.metadata
    if metadata.registration_endpoint is None:
        raise LoginFailed(
            f"{found.issuer} does not register new programs by itself.",
            "Register one on its pages, with the address that follows, and give its id: "
            f"`parachute mcp login NAME --client-id ID`. The address: {redirect}",
            key="no_registration",
        )
    requests.address(str(metadata.registration_endpoint), "its registration")
    wanted = OAuthClientMetadata(
        redirect_uris=[AnyUrl(redirect)],
        client_name=_CLIENT,
        grant_types=list(_GRANTS),
        scope=found.scope,
        token_endpoint_auth_method="none",  # noqa: S106 - the method, not a secret
    )
    answer = await requests.ask(create_client_registration_request(metadata, wanted, found.issuer), "its registration")
    try:
        client = await handle_registration_response(answer)
        check_registration_usable(client)
    except OAuthRegistrationError as error:
        raise LoginFailed(
            f"{found.issuer} does not take this computer as a program of yours.", key="not_taken"
        ) from error
    return Registration(
        found.issuer,
        str(metadata.token_endpoint),
        client.client_id,
        client.client_secret,
        client.token_endpoint_auth_method,
        redirect,
    )


def secret_method(found: Discovered) -> str:
    """Return how a client with a secret says it there: in the header, which every server takes that names no other way (RFC 8414), or in the body."""
    methods = found.metadata.token_endpoint_auth_methods_supported or [_IN_THE_HEADER]
    return _IN_THE_HEADER if _IN_THE_HEADER in methods else "client_secret_post"


async def _challenge(requests: Requests, server: Server, headers: dict[str, str]) -> httpx2.Response:
    asked = {"accept": "application/json, text/event-stream", **headers}
    if server.kind == "sse":
        request = httpx2.Request("GET", server.url, headers=asked)
    else:
        request = httpx2.Request("POST", server.url, json=_PROBE, headers=asked)
    answer = await requests.ask(request, "it")
    if answer.status_code != 401 and not (answer.status_code == 403 and "www-authenticate" in answer.headers):
        raise Conflict(f"The MCP server {server.name} does not ask anybody to sign in.", key="no_login_needed")
    return answer


async def _described(
    requests: Requests, server: Server, challenge: httpx2.Response
) -> ProtectedResourceMetadata | None:
    own = addresses.parse(server.url)
    named = extract_resource_metadata_from_www_auth(challenge)
    if named is not None and requests.shown(named, "its description").target != own.target:
        raise LoginFailed(
            f"The MCP server {server.name} publishes its login data on another host.", key="described_elsewhere"
        )
    for url in build_protected_resource_metadata_discovery_urls(named, server.url):
        answer = await requests.ask(create_oauth_metadata_request(url), "its description")
        if answer.status_code >= 500 or answer.status_code == 429:
            raise LoginFailed(f"The MCP server {server.name} does not name its login server.", key="issuer_not_named")
        described = await handle_protected_resource_response(answer)
        if described is None:
            continue
        resource = resource_url_from_server_url(server.url)
        if not check_resource_allowed(requested_resource=resource, configured_resource=str(described.resource)):
            raise LoginFailed(
                f"The MCP server {server.name} asks for a token of {str(described.resource)[:200]}, which is not its own.",
                key="wrong_resource",
            )
        return described
    return None


async def _metadata(requests: Requests, server: Server, issuer: str, *, is_named: bool) -> OAuthMetadata:
    for url in build_oauth_authorization_server_metadata_discovery_urls(issuer if is_named else None, server.url):
        answer = await requests.ask(create_oauth_metadata_request(url), "its authorization server")
        goes_on, metadata = await handle_auth_metadata_response(answer)
        if metadata is not None:
            said = str(metadata.issuer)
            if not (said == issuer or (not is_named and issuers_match(said, issuer))):
                raise LoginFailed(f"{issuer} says that it is {said[:200]}.", key="wrong_issuer")
            return metadata
        if not goes_on:
            break
    raise LoginFailed(
        f"The MCP server {server.name} requires a login but does not name its login server.", key="no_metadata"
    )
