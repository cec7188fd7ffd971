// The client of npm's SDK, which signs in, lists the tools and calls one: node --input-type=module - ADDRESS < this, where the SDK is.
import { createServer } from "node:http";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const address = new URL(process.argv[2]);
let back, heard;
const listening = createServer((request, response) => {
  response.end("Done.");
  heard(new URL(request.url, back).searchParams.get("code"));
});
await new Promise((begin) => listening.listen(0, "127.0.0.1", begin));
back = `http://127.0.0.1:${listening.address().port}/back`;
const code = new Promise((resolve) => { heard = resolve; });

const kept = {};
const provider = {
  redirectUrl: back,
  clientMetadata: { client_name: "npm SDK", redirect_uris: [back], token_endpoint_auth_method: "none" },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  redirectToAuthorization: (link) => console.error(link.href),
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  codeVerifier: () => kept.verifier,
};

const connect = async () => {
  const transport = new StreamableHTTPClientTransport(address, { authProvider: provider });
  const client = new Client({ name: "npm SDK", version: "1.0.0" });
  try {
    await client.connect(transport);
    return client;
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    await transport.finishAuth(await code);
    return undefined;
  }
};

const client = (await connect()) ?? (await connect());
console.log(JSON.stringify(await client.listTools()));
await client.close();
listening.close();
