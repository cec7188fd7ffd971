"""Answers to the library's authorization server: clients, codes and tokens, at one address of this computer."""

import math
from urllib.parse import quote

from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    RegistrationError,
    TokenError,
    construct_redirect_uri,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl

from parachute.base.errors import Conflict, InvalidInput
from parachute.security.mcp_clients.models import Asked, Client, Code, Issued, Limits
from parachute.security.mcp_clients.service import McpClients
from parachute.web.access.access import resource_of

_GRANT_TYPES = ["authorization_code", "refresh_token"]
_CHALLENGE = 43
"""Characters of a SHA-256 in base64url (RFC 7636, section 4.2)."""

_LONGEST_STATE = 2000


class Provider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """The protocol's view of the clients; every token is for this computer's MCP server at `origin`, and for nothing else.

    Clients are public ones: a secret would have to be kept as it is, and PKCE does what it would.
    """

    def __init__(self, clients: McpClients, origin: str) -> None:
        self._clients = clients
        self._origin = origin
        self._taken: Code | None = None

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        """A client that has registered itself."""
        found = self._clients.client(client_id)
        return None if found is None else _information(found)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Register one, and say in `client_info` what was kept of what it told."""
        try:
            made = self._clients.registrations.add(
                client_info.client_id,
                client_info.client_name,
                [str(address) for address in client_info.redirect_uris or ()],
                client_info.scope,
            )
        except InvalidInput as error:
            kind = "invalid_redirect_uri" if error.key == "invalid_redirect" else "invalid_client_metadata"
            raise RegistrationError(kind, error.message) from error  # type: ignore[arg-type]
        kept = _information(made)
        for name in OAuthClientInformationFull.model_fields:
            setattr(client_info, name, getattr(kept, name))
        client_info.client_id_issued_at = int(self._clients.clock.now().timestamp())

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        """Keep the request, and send the browser to the screen where the owner answers."""
        resource = resource_of(self._origin)
        if params.resource is not None and params.resource.removesuffix("/") != resource:
            raise AuthorizeError("invalid_target", f"resource: tokens are given for {resource} alone.")
        if len(params.code_challenge) != _CHALLENGE:
            raise AuthorizeError("invalid_request", "code_challenge: a SHA-256 in base64url is expected.")
        if params.state is not None and len(params.state) > _LONGEST_STATE:
            raise AuthorizeError("invalid_request", f"state: at most {_LONGEST_STATE} characters are allowed.")
        known = self._clients.client(client.client_id)
        if known is None:
            raise AuthorizeError("unauthorized_client", "This client has ended.")
        asked = self._clients.codes.ask(
            Asked(
                id="",
                client=known,
                resource=resource,
                issuer=self._origin,
                redirect=str(params.redirect_uri),
                is_explicit=params.redirect_uri_provided_explicitly,
                challenge=params.code_challenge,
                state=params.state,
                scopes=tuple(params.scopes or ()),
                expires=0,
            )
        )
        return f"{self._origin}/#/clients/consent/{quote(asked.id)}"

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        """Use up a code; whoever shows one that was used before ends what came of it."""
        code = self._clients.codes.take(authorization_code, client.client_id)
        if code is None:
            if stolen := self._clients.codes.grant_of_taken(authorization_code, client.client_id):
                await self._clients.end(stolen)
            return None
        if code.asked.resource != resource_of(self._origin):
            return None
        self._taken = code
        return AuthorizationCode(
            code=authorization_code,
            scopes=list(code.asked.scopes),
            expires_at=math.inf,  # whether it is too old was looked at
            client_id=client.client_id,
            code_challenge=code.asked.challenge,
            redirect_uri=AnyUrl(code.asked.redirect),
            redirect_uri_provided_explicitly=code.asked.is_explicit,
            resource=code.asked.resource,
        )

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        """Tokens for the code that was just taken."""
        code, self._taken = self._taken, None
        if code is None:
            raise TokenError("invalid_grant", "authorization code does not exist")
        try:
            issued = await self._clients.redeem(code)
        except Conflict as error:
            raise TokenError("invalid_grant", error.message) from error
        return _answer(issued, authorization_code.scopes)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        """The token, if it is the last one; whoever shows an earlier one ends the whole grant."""
        grant = self._clients.of_refresh(refresh_token, client.client_id)
        if grant is None:
            if stolen := self._clients.of_spent(refresh_token, client.client_id):
                await self._clients.end(stolen.id)
            return None
        if grant.resource != resource_of(self._origin):
            return None
        scopes = (grant.client.scope or "").split()
        return RefreshToken(token=refresh_token, client_id=client.client_id, scopes=scopes, subject=grant.id)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        """New tokens in place of both; the second of two requests with one token ends the grant."""
        grant = self._clients.of_refresh(refresh_token.token, client.client_id)
        issued = await self._clients.renew(grant, refresh_token.token) if grant else None
        if issued is None:
            await self.load_refresh_token(client, refresh_token.token)
            raise TokenError("invalid_grant", "refresh token does not exist")
        return _answer(issued, scopes)

    async def load_access_token(self, token: str) -> AccessToken | None:
        """A token, for whoever gives it back."""
        grant = self._clients.authenticate(token)
        if grant is None:
            return None
        return AccessToken(token=token, client_id=grant.client.id, scopes=[], resource=grant.resource, subject=grant.id)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        """End the whole grant."""
        if token.subject is not None:
            await self._clients.end(token.subject)


def address_with_code(asked: Asked, code: str) -> str:
    """The address to which the browser goes back when the owner has agreed (RFC 9207: with our name)."""
    return construct_redirect_uri(asked.redirect, code=code, state=asked.state, iss=asked.issuer)


def address_of_refusal(asked: Asked) -> str:
    """The address to which it goes back when the owner has not."""
    return construct_redirect_uri(asked.redirect, error="access_denied", state=asked.state, iss=asked.issuer)


def agree(clients: McpClients, name: str, limits: Limits) -> str:
    """Agree to what was asked: the address to which the browser goes back. Error: NotFound."""
    return address_with_code(*clients.codes.agree(name, limits))


def _information(client: Client) -> OAuthClientInformationFull:
    return OAuthClientInformationFull(
        client_id=client.id,
        client_name=client.name,
        redirect_uris=[AnyUrl(address) for address in client.redirects],
        token_endpoint_auth_method="none",  # noqa: S106 - the name of a method
        grant_types=_GRANT_TYPES,
        response_types=["code"],
        scope=client.scope,
    )


def _answer(issued: Issued, scopes: list[str]) -> OAuthToken:
    return OAuthToken(
        access_token=issued.access,
        refresh_token=issued.refresh,
        expires_in=issued.seconds,
        scope=" ".join(scopes) or None,
    )
