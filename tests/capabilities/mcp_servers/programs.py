"""MCP servers as other people write them: with MCP's own library, or with ill will and the standard library only."""

NOTES = '''
import asyncio, os, pathlib
from mcp.server import MCPServer

server = MCPServer("notes", instructions="Keep notes.")
pathlib.Path("started").write_text("yes")


@server.tool()
def add(text: str) -> str:
    """Write a note down."""
    with open("notes.txt", "a") as file:
        file.write(text + "\\n")
    return "Noted: " + text


@server.tool()
def count() -> dict[str, int]:
    """Count the notes."""
    return {"notes": len(open("notes.txt").read().splitlines())}


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("the notebook is full")


@server.tool()
def token() -> str:
    """Tell what the environment holds."""
    return os.environ.get("TOKEN", "none")


server.run()
'''
"""Needs the folder of the library: `library()`."""

PLAIN = """
import json, os, sys, time

def send(document):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **document}) + "\\n")
    sys.stdout.flush()

def introduce(asked):
    send({"id": asked["id"], "result": {"protocolVersion": asked["params"]["protocolVersion"],
          "capabilities": {"tools": {}}, "serverInfo": {"name": "plain", "version": "1"}}})

def tool(name, **more):
    return {"name": name, "description": "Do it.", "inputSchema": {"type": "object", "properties": {}}, **more}

def text(asked, words):
    send({"id": asked["id"], "result": {"content": [{"type": "text", "text": words}]}})

TOOLS = [tool("act")]
RESOURCES = {}

def begin():
    pass

def offer(asked):
    send({"id": asked["id"], "result": {"tools": TOOLS}})

def act(asked):
    text(asked, "done")

def more(asked):
    send({"id": asked["id"], "result": {"resources": [{"uri": uri, "name": uri} for uri in RESOURCES]}})

def heard(message):
    pass

CODE

begin()
for line in sys.stdin:
    asked = json.loads(line)
    method = asked.get("method")
    if method == "initialize":
        introduce(asked)
    elif method == "tools/list":
        offer(asked)
    elif method == "tools/call":
        act(asked)
    elif method == "resources/read":
        contents = RESOURCES.get(asked["params"]["uri"])
        if contents is None:
            send({"id": asked["id"], "error": {"code": -32002, "message": "Resource not found"}})
        else:
            found = {"uri": asked["params"]["uri"], "mimeType": "text/plain", "text": contents}
            send({"id": asked["id"], "result": {"contents": [found]}})
    elif method == "ping":
        send({"id": asked["id"], "result": {}})
    elif method == "resources/list":
        more(asked)
    elif method and "id" in asked:
        send({"id": asked["id"], "error": {"code": -32601, "message": "Method not found"}})
    else:
        heard(asked)
"""


def plain(code: str = "") -> str:
    """A server of the standard library with one tool `act`; `code` replaces what it does."""
    return PLAIN.replace("CODE", code)
