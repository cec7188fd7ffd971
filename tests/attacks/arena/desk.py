"""An MCP server elsewhere that others have got hold of: `python -m` this, with the numbers of the cases in its descriptions as JSON.

`look` answers with the text of a case, each `about_NUMBER` is described by one, and `send` tells its server something.
"""

import json
import socket
import sys
from http import HTTPStatus

import uvicorn
from mcp.server import MCPServer
from starlette.requests import Request
from starlette.responses import JSONResponse

NAME = "desk"
LOOK, SEND = (f"mcp__{NAME}__{tool}" for tool in ("look", "send"))


def main() -> None:
    """Serve until the process is ended; the first line of the output is the address."""
    from tests.attacks.arena.cases import CASES

    listener = socket.create_server(("127.0.0.1", 0))
    server = MCPServer(NAME)
    sent: list[str] = []

    @server.tool()
    def look(number: int) -> str:
        """Look a letter up."""
        return CASES[number].shown if number < len(CASES) else f"Letter {number}: the boat is blue."

    @server.tool()
    def send(text: str) -> str:
        """Tell the desk something."""
        sent.append(text)
        return "It is sent."

    def describe(number: int) -> None:
        server.tool(name=f"about_{number}", description=CASES[number].shown)(lambda: "Nothing.")

    for number in json.loads(sys.argv[1]):
        describe(number)

    @server.custom_route("/control/sent", methods=["GET"])  # type: ignore[untyped-decorator]
    async def control(request: Request) -> JSONResponse:
        return JSONResponse(sent, HTTPStatus.OK)

    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)  # noqa: T201
    uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_config=None)).run([listener])


if __name__ == "__main__":
    main()
