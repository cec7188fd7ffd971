#!/usr/bin/env bash
# mcp 2.3.0 (ClientSession over stdio), asking a server that answers in plain JSON.
# Expected: of a list in which one tool lacks its "inputSchema", or of a result in which one block has a type that the
# library does not know, the others arrive; or else send_request(request, result_type), with a type that takes any
# object, gives what the server has sent.
# Seen: each raises ValidationError and nothing arrives. send_request checks an answer against the types of the agreed
# version before it looks at result_type, which can refuse more and never less.
#   list_tools, all well formed           ['read', 'write']
#   call_tool, text                       ['text']
#   list_tools, one without inputSchema   ValidationError at tools.1.inputSchema
#   send_request, any object will do      ValidationError at tools.1.inputSchema
#   call_tool, text and a block of video  ValidationError at content.1
#   send_request, any object will do      ValidationError at content.1
#   dispatcher.send_raw_request           ['read', 'write']
# The answer is to be had below the session only, from the dispatcher that it was given.
# 2026-11-29
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q mcp==2.3.0
cd "$folder"
cat >server.py <<'PYTHON'
import json
import sys

read, write = {"name": "read", "inputSchema": {"type": "object"}}, {"name": "write"}
content = [{"type": "text", "text": "Words."}]
if sys.argv[1] == "good":
    write["inputSchema"] = {"type": "object"}
else:
    content.append({"type": "video", "uri": "https://example.org/a.webm"})
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    about = {"serverInfo": {"name": "plain", "version": "1"}, "capabilities": {"tools": {}}}
    result = {"tools/list": {"tools": [read, write]}, "tools/call": {"content": content}}.get(asked["method"])
    result = result or {"protocolVersion": asked["params"]["protocolVersion"], **about}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
PYTHON
cat >ask.py <<'PYTHON'
import asyncio
import sys

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from pydantic import TypeAdapter, ValidationError

LIST = types.ListToolsRequest()
CALL = types.CallToolRequest(params=types.CallToolRequestParams(name="read", arguments={}))
ANY = TypeAdapter(dict)


async def show(what, asking, expected):
    try:
        answer = await asking
        answer = answer if isinstance(answer, dict) else answer.model_dump(by_alias=True)
        seen = [tool["name"] for tool in answer.get("tools", [])] + [part["type"] for part in answer.get("content", [])]
    except ValidationError as error:
        place = error.errors()[0]["loc"]
        # Of a block each type that it might have had is named.
        seen = "ValidationError at " + ".".join(map(str, place[:2] if place[0] == "content" else place))
    print(f"{what:<37} {seen}")
    assert seen == expected


async def ask(kind):
    async with stdio_client(StdioServerParameters(command=sys.executable, args=["server.py", kind])) as streams:
        dispatcher = JSONRPCDispatcher(*streams)
        async with ClientSession(dispatcher=dispatcher) as session:
            await session.initialize()
            if kind == "good":
                await show("list_tools, all well formed", session.list_tools(), ["read", "write"])
                await show("call_tool, text", session.call_tool("read", {}), ["text"])
                return
            tools, content = "ValidationError at tools.1.inputSchema", "ValidationError at content.1"
            await show("list_tools, one without inputSchema", session.list_tools(), tools)
            await show("send_request, any object will do", session.send_request(LIST, ANY), tools)
            await show("call_tool, text and a block of video", session.call_tool("read", {}), content)
            await show("send_request, any object will do", session.send_request(CALL, ANY), content)
            await show("dispatcher.send_raw_request", dispatcher.send_raw_request("tools/list", {}), ["read", "write"])


for kind in ("good", "bad"):
    asyncio.run(asyncio.wait_for(ask(kind), 60))
PYTHON
venv/bin/python ask.py
