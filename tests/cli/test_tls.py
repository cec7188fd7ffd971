"""`parachute tls`."""

import json
from typing import Any

from syrupy.assertion import SnapshotAssertion

from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .scripted_core import ScriptedCore

GROUPS = " ".join(f"{number:04X}" for number in range(16))
CERTIFICATE = {
    "names": ["parachute.local", "192.168.1.5"],
    "fingerprint": GROUPS,
    "starts_at": "2026-01-01T00:00:00Z",
    "expires_at": "2026-04-01T00:00:00Z",
}
READY: dict[str, Any] = {
    "enabled": True,
    "ready": True,
    "urls": ["https://parachute.local:3333", "https://192.168.1.5:3333"],
    "authority": {
        "name": "Parachute Computer parachute (F941)",
        "fingerprint": GROUPS,
        "expires_at": "2036-01-01T00:00:00Z",
        "permitted": ["parachute.local", "192.168.0.0/16"],
        "download": "/tls/ca.crt",
        "profile": "/tls/ca.mobileconfig",
    },
    "certificate": CERTIFICATE,
    "own": {**CERTIFICATE, "names": ["notes.example.org"]},
    "renews_at": "2026-03-02T00:00:00Z",
    "problems": ["The authority may not sign nas.example.org."],
}
OFF = {**READY, "enabled": False, "ready": False, "urls": [], "authority": None, "certificate": None, "own": None}


def test_it_is_shown_with_what_is_wrong(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/tls"] = 200, READY
        shown = parachute("tls", "status")
        assert json.loads(parachute.ok("tls", "status", "--json")) == READY
        core.answers["GET", "/api/tls"] = 200, OFF
        parachute("tls", "status")
        parachute.fails("tls", "show")
    for part in ("https://parachute.local:3333", "parachute.local, 192.168.1.5", "notes.example.org", "2026-04-01"):
        assert part in shown.out
    assert parachute.screens == snapshot


def test_the_fingerprint_stands_in_two_lines_beside_the_pages(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home) as core:
        core.answers["GET", "/api/tls"] = 200, READY
        parachute.ok("tls", "show")
        document = json.loads(parachute.ok("tls", "show", "--json"))
    # Who opens the page does not trust the computer yet.
    assert document["pages"] == ["http://parachute.local:3333/tls", "http://192.168.1.5:3333/tls"]
    assert document["fingerprint"] == GROUPS
    assert parachute.screens == snapshot


def test_another_authority_is_made_after_a_question_only(
    parachute: Terminal, home: Home, snapshot: SnapshotAssertion
) -> None:
    with ScriptedCore(home) as core:
        core.answers["POST", "/api/tls/renew"] = 200, READY
        parachute.ok("tls", "renew")
        assert parachute("tls", "renew", "--authority").code != 0
        parachute.ok("tls", "renew", "--authority", "--yes")
    assert [call.body for call in core.calls] == [{"authority": False}, {"authority": True}]
    assert parachute.screens == snapshot
