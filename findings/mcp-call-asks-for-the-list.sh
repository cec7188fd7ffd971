#!/usr/bin/env bash
# mcp 2.3.0 (ClientSession over stdio), asking a server that answers in plain JSON and lists its two tools on two pages.
# Expected: call_tool sends "tools/call", returns the answer, and refuses one that the tool's "outputSchema" refuses.
# Seen: after the answer to a call of a tool that was not listed yet, it asks for the list, of which it takes the first
# page. If that fails, call_tool raises, though the tool has run. For a tool of a later page it does so at each call,
# and returns the answer unchecked. ("count" is an integer in the schema; the first call answers 1, the second "x".)
#   first, no list     Done. / RuntimeError    call list call
#   second, no list    Done. / Done.           call list call list
#   second, all pages  Done. / RuntimeError    list list call call
#   first, list fails  MCPError / MCPError     call list call list
# So all pages have to be asked for before the first call; and what a call that raised was to do may be done.
# 2026-11-30
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q mcp==2.3.0
cd "$folder"
cat >server.py <<'PYTHON'
import json
import sys

schema = {"type": "object", "properties": {"count": {"type": "integer"}}}
first, second = ({"name": name, "inputSchema": schema, "outputSchema": schema} for name in ("first", "second"))
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, parameters = asked["method"], asked.get("params", {})
    print(method.removeprefix("tools/"), file=sys.stderr, flush=True)
    if method == "initialize":
        about = {"serverInfo": {"name": "plain", "version": "1"}, "capabilities": {"tools": {}}}
        answer = {"result": {"protocolVersion": parameters["protocolVersion"], **about}}
    elif method == "tools/call":
        done = {"content": [{"type": "text", "text": "Done."}], "structuredContent": parameters["arguments"]}
        answer = {"result": done}
    elif "fails" in sys.argv[1]:
        answer = {"error": {"code": -32603, "message": "Later, please."}}
    else:
        answer = {"result": {"tools": [second]} if "cursor" in parameters else {"tools": [first], "nextCursor": "2"}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
PYTHON
cat >ask.py <<'PYTHON'
import asyncio
import logging
import sys

from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import PaginatedRequestParams

logging.disable()  # that the second tool "is not listed" is a warning


async def ask(what, expected, methods):
    server = StdioServerParameters(command=sys.executable, args=["server.py", what])
    seen = []
    with open("methods", "w+") as log:
        async with stdio_client(server, errlog=log) as streams, ClientSession(*streams) as session:
            await session.initialize()
            cursor = "" if "pages" in what else None
            while cursor is not None:
                page = PaginatedRequestParams(cursor=cursor) if cursor else None
                cursor = (await session.list_tools(params=page)).next_cursor
            for count in (1, "x"):
                try:
                    answer = await session.call_tool(what.partition(",")[0], {"count": count})
                    seen.append(answer.content[0].text)
                except (MCPError, RuntimeError) as error:
                    seen.append(type(error).__name__)
        log.seek(0)
        asked = " ".join(log.read().split()[1:])
    print(f"{what:<18} {' / '.join(seen):<23} {asked}")
    assert (seen, asked) == (expected, methods)


async def main():
    await ask("first, no list", ["Done.", "RuntimeError"], "call list call")
    await ask("second, no list", ["Done.", "Done."], "call list call list")
    await ask("second, all pages", ["Done.", "RuntimeError"], "list list call call")
    await ask("first, list fails", ["MCPError", "MCPError"], "call list call list")


asyncio.run(asyncio.wait_for(main(), 60))
PYTHON
venv/bin/python ask.py
