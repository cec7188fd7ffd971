#!/usr/bin/env bash
# @modelcontextprotocol/conformance 0.1.16, @modelcontextprotocol/sdk 1.32.2, Node.js 22.23.3.
# Expected: a scenario that ends with status 0 has checked something: a server without sessions and without any tool cannot pass
# one that calls a tool over several streams.
# Seen: that there is no session is a warning, nothing else is checked, and the scenario is ticked:
#   server-sse-multiple-streams: status 0, Passed: 0/0, 0 failed, 1 warnings
#   server-sse-polling: status 0, Passed: 0/0, 0 failed, 3 warnings
# The suite imports what came with Node.js 22, which its package does not ask for; so this brings one.
# 2026-11-30
set -euo pipefail

folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund @modelcontextprotocol/conformance@0.1.16 @modelcontextprotocol/sdk@1.32.2 express@5.2.1 node@22.23.3
node=$folder/node_modules/.bin/node

cat >server.mjs <<'END'
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import express from "express";

const app = express();
app.use(express.json());
app.post("/mcp", async (request, response) => {
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
});
const listening = app.listen(0, "127.0.0.1", () => console.log(listening.address().port));
END
coproc "$node" server.mjs
server=$COPROC_PID
read -r port <&"${COPROC[0]}"

for scenario in server-sse-multiple-streams server-sse-polling; do
  said=$("$node" node_modules/@modelcontextprotocol/conformance/dist/index.js server --url "http://127.0.0.1:$port/mcp" --scenario "$scenario")
  echo "$scenario: status 0, $(grep '^Passed:' <<<"$said")"
  grep -q '^Passed: 0/0, 0 failed' <<<"$said"
done
