"""The session with one server: who we say that we are, and questions below the types of MCP's library."""

from typing import TYPE_CHECKING, Any, NamedTuple

from parachute import __version__
from parachute.base.errors import Unavailable

# The library of MCP is imported in functions: it takes half a second of a small processor, which the start of the server has not.
if TYPE_CHECKING:
    from mcp import ClientSession
    from mcp.shared.dispatcher import CallOptions, Dispatcher, ProgressFnT

_PAGES = 20
QUIETLY = "x-parachute-quietly"
"""A header of ours that goes no further than our transport: the owner need not sign in for this request."""

_FORMS: dict[str, Any] = {"elicitation": {"form": {}}}
"""Our abilities for a server: to ask the owner with a form. Nobody lends it a model (sampling) or names folders (roots)."""


class Session(NamedTuple):
    """A server that has introduced itself. It is asked below the types of MCP's library, which drop a whole answer for one bad part."""

    name: str
    dispatcher: "Dispatcher[Any]"
    headers: dict[str, str]
    abilities: frozenset[str]
    """Its own abilities: `tools`, `resources`, `prompts` …"""

    async def ask(self, method: str, params: dict[str, Any], progress: "ProgressFnT | None" = None) -> dict[str, Any]:
        """The result as the server has sent it; a caller that does not wait any more cancels the request there."""
        options: CallOptions = {"headers": self.headers}
        if progress is not None:
            options["on_progress"] = progress
        return await self.dispatcher.send_raw_request(method, params, options)

    def quiet(self) -> "Session":
        """The same session for what nobody has asked for; a server that wants a login for that only refuses it."""
        return self._replace(headers={**self.headers, QUIETLY: "1"})

    async def listed(self, method: str, field: str, most: int) -> list[Any]:
        """All pages of a list, up to one entry more than `most`; error: Unavailable for an answer without one."""
        found: list[Any] = []
        cursor = None
        for _ in range(_PAGES):
            page = await self.ask(method, {} if cursor is None else {"cursor": cursor})
            entries = page.get(field)
            if not isinstance(entries, list):
                raise Unavailable(
                    f"The MCP server {self.name} answered without a list of its {field}.", key="no_list_of_server"
                )
            found += entries
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or not cursor or len(found) > most:
                break
        return found[: most + 1]


async def introduced(name: str, session: "ClientSession", dispatcher: "Dispatcher[Any]") -> Session:
    """Introduce ourselves to a server. The library's own introduction would say that we open addresses for it."""
    from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
    from mcp.types import InitializedNotification, InitializeResult
    from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

    client = {"name": "parachute", "version": __version__}
    asked = {"protocolVersion": HANDSHAKE_PROTOCOL_VERSIONS[-1], "capabilities": _FORMS, "clientInfo": client}
    said = await dispatcher.send_raw_request("initialize", asked, {"cancel_on_abandon": False})
    result = InitializeResult.model_validate(said, by_name=False)
    if result.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        raise RuntimeError(f"Unsupported protocol version from the server: {result.protocol_version}")
    session.adopt(result)
    await session.send_notification(InitializedNotification())
    abilities = said.get("capabilities")
    headers = {MCP_PROTOCOL_VERSION_HEADER: result.protocol_version}
    return Session(name, dispatcher, headers, frozenset(abilities if isinstance(abilities, dict) else ()))
