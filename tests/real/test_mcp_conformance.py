"""The conformance suite of MCP against `/mcp`, and against our client: which check passes, and why others are not ours."""

import json
import sys
from pathlib import Path

import pytest

from tests.real.conformance import BAD, GOOD, checks, scenarios
from tests.support.server import Server

pytestmark = pytest.mark.long

PASSED_BY_SERVER = {
    "server-initialize": {"server-initialize"},
    "ping": {"ping"},
    "prompts-list": {"prompts-list"},
    "resources-list": {"resources-list"},
    "server-sse-multiple-streams": {"server-accepts-multiple-post-streams"},
    "tools-list": {"tools-list"},
    "dns-rebinding-protection": {"localhost-host-rebinding-rejected", "localhost-host-valid-accepted"},
}
TOOLS_OF_THE_SUITE = "it calls a tool of the suite's own server"
NOT_OFFERED = "we do not say that we have this"
NO_STREAM = "it asks again for a stream that was cut, and an answer is given once here"
OF_THE_SUITE = "it reads what the suite's own server has"
NOT_OF_THE_SERVER = {
    "completion-complete": NOT_OFFERED,
    "elicitation-sep1034-defaults": TOOLS_OF_THE_SUITE,
    "elicitation-sep1330-enums": TOOLS_OF_THE_SUITE,
    "json-schema-2020-12": TOOLS_OF_THE_SUITE,
    "logging-set-level": NOT_OFFERED,
    "prompts-get-embedded-resource": OF_THE_SUITE,
    "prompts-get-simple": OF_THE_SUITE,
    "prompts-get-with-args": OF_THE_SUITE,
    "prompts-get-with-image": OF_THE_SUITE,
    "resources-read-binary": OF_THE_SUITE,
    "resources-read-text": OF_THE_SUITE,
    "resources-subscribe": NOT_OFFERED,
    "resources-templates-read": OF_THE_SUITE,
    "resources-unsubscribe": NOT_OFFERED,
    "server-sse-polling": NO_STREAM,
    "tools-call-audio": TOOLS_OF_THE_SUITE,
    "tools-call-elicitation": TOOLS_OF_THE_SUITE,
    "tools-call-embedded-resource": TOOLS_OF_THE_SUITE,
    "tools-call-error": TOOLS_OF_THE_SUITE,
    "tools-call-image": TOOLS_OF_THE_SUITE,
    "tools-call-mixed-content": TOOLS_OF_THE_SUITE,
    "tools-call-sampling": TOOLS_OF_THE_SUITE,
    "tools-call-simple-text": TOOLS_OF_THE_SUITE,
    "tools-call-with-logging": TOOLS_OF_THE_SUITE,
    "tools-call-with-progress": TOOLS_OF_THE_SUITE,
}
"""Scenarios of which nothing passes, with the reason; one that begins to pass belongs above."""


def test_the_server_side(offering: Server, tmp_path: Path) -> None:
    key = json.loads(offering.command("keys", "create", "suite", "--scope", "*:read", "--json").stdout)["key"]
    found = checks(tmp_path, "server", "--url", f"{offering.url}/mcp", "--suite", "all", key=key)
    passed = {name: {check for check, ended in each.items() if ended == GOOD} for name, each in found.items()}
    assert {name: each for name, each in passed.items() if each} == PASSED_BY_SERVER
    assert {name for name, each in passed.items() if not each} == {*NOT_OF_THE_SERVER}
    for name in PASSED_BY_SERVER:
        assert BAD not in found[name].values(), found[name]


SIGNING_IN = {
    "authorization-server-metadata",
    "authorization-request",
    "pkce-code-challenge-sent",
    "pkce-s256-method-used",
    "pkce-code-verifier-sent",
    "pkce-verifier-matches-challenge",
    "token-request",
    "valid-bearer-token",
}
PASSED_BY_CLIENT: dict[str, set[str]] = {
    "initialize": {"mcp-client-initialization"},
    "tools_call": {"tool-add-numbers"},
    "sse-retry": {"client-sse-graceful-reconnect", "client-sse-retry-timing", "client-sse-last-event-id"},
    "auth/basic-cimd": SIGNING_IN,
    "auth/metadata-default": {*SIGNING_IN, "prm-pathbased-requested", "client-registration"},
    "auth/metadata-var1": SIGNING_IN,
    "auth/metadata-var2": SIGNING_IN,
    "auth/metadata-var3": SIGNING_IN,
    "auth/offline-access-not-supported": SIGNING_IN,
    "auth/offline-access-scope": SIGNING_IN,
    "auth/pre-registration": SIGNING_IN,
    "auth/resource-mismatch": {"resource-mismatch-rejected"},
    "auth/scope-from-scopes-supported": SIGNING_IN,
    "auth/scope-from-www-authenticate": SIGNING_IN,
    "auth/scope-omitted-when-undefined": SIGNING_IN,
    "auth/scope-retry-limit": {*SIGNING_IN, "scope-retry-limit"} - {"valid-bearer-token"},
    "auth/scope-step-up": {*SIGNING_IN, "scope-step-up-initial", "scope-step-up-escalation"},
    "auth/token-endpoint-auth-basic": SIGNING_IN,
    "auth/token-endpoint-auth-none": SIGNING_IN,
    "auth/token-endpoint-auth-post": SIGNING_IN,
}
NOT_OF_THE_CLIENT = {
    "auth/2025-03-26-oauth-endpoint-fallback": "a server that names nobody at whom one signs in is refused",
    "auth/2025-03-26-oauth-metadata-backcompat": "a server that names nobody at whom one signs in is refused",
    "auth/client-credentials-basic": "programs do not sign in without their owner",
    "auth/client-credentials-jwt": "programs do not sign in without their owner",
    "auth/cross-app-access-complete-flow": "programs do not sign in without their owner",
    "elicitation-sep1034-client-defaults": "what a server asks during a call waits for the owner, and the suite has none",
}
"""Scenarios that are not run, with the reason."""


def test_each_scenario_of_the_client_side_is_known() -> None:
    assert {*scenarios("client")} == {*PASSED_BY_CLIENT, *NOT_OF_THE_CLIENT}


@pytest.mark.parametrize("scenario", PASSED_BY_CLIENT)
def test_the_client_side(scenario: str, tmp_path: Path) -> None:
    program = f"{sys.executable} -m tests.real.conformance_client"
    found = checks(tmp_path, "client", "--scenario", scenario, program=program)[scenario]
    assert PASSED_BY_CLIENT[scenario] <= {check for check, ended in found.items() if ended == GOOD}, found
    assert BAD not in found.values(), found
