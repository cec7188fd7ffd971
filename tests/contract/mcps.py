"""MCP servers, as the app reads them (contract, sections 5 and 13)."""

from pydantic import Field

from .dart import Snake


class Server(Snake):
    """One server."""

    name: str
    display_type: str = Field("stdio", alias="displayType")
    display_command: str = Field("", alias="displayCommand")
    builtin: bool = False
    validation_errors: list[str] | None = Field(None, alias="validationErrors")


class ServerList(Snake):
    """Answer of GET of all."""

    servers: list[Server]


class Trial(Snake):
    """Answer of a test; one of `status` ok or connected is a good one."""

    status: str
    error: str | None = None
    message: str | None = None
    tools_count: int | None = None
    tools: list[str] | None = None


class Tool(Snake):
    """A tool of a server."""

    name: str
    description: str | None = None


class ToolList(Snake):
    """Answer of GET of the tools."""

    tools: list[Tool] | None = None
    error: str | None = None
