"""`parachute phone`: your phone at this computer, with one command."""

import json
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import typer

from parachute.base.errors import Conflict, ParachuteError, Unavailable
from parachute.cli.api import Api
from parachute.cli.commands import JSON, group
from parachute.cli.commands.first_boot import refuse_journal
from parachute.cli.commands.pair import new_code, print_code
from parachute.cli.output import clean, local, print_facts, print_note
from parachute.config.settings.home import Home

_RESTART_SECONDS = 120.0
_POLL_SECONDS = 0.5
_RENEWED_BEFORE = timedelta(seconds=45)


def phone(
    address: str | None = typer.Option(None, "--address", help="Which of this computer's addresses the phone opens."),
    off: bool = typer.Option(False, "--off", help="Let no other device in any more."),
    as_json: bool = JSON,
) -> None:
    """Connect a phone: let devices of your network in, show a QR code that signs one in, and wait for it."""
    refuse_journal()
    home = Home.find()
    api = Api.find(home)
    if off:
        if api.delete("/api/phone")["is_restarting"]:
            _restarted(home, is_reachable=False)
        _say({"is_reachable": False}, "Other devices cannot reach this computer any more.", as_json)
        return
    found = api.get("/api/phone")
    if not found["is_reachable"]:
        if not as_json:
            print("The computer restarts, and then answers the devices of your network …")
        api.post("/api/phone")
        api, found = _restarted(home, is_reachable=True)
    others = [each for each in found["addresses"] if each != address]
    if address is None and not others:
        raise Conflict(
            "This computer is on no network at home.",
            "Connect it to the Wi-Fi or cable that your phone uses, then try again.",
            key="no_home_network",
        )
    chosen = address or others.pop(0)
    came = _wait(api, chosen, others, as_json=as_json)
    where = {"name": came["name"], "address": came["address"]}
    _say({"connected": where}, f"✓ {clean(came['name'])} is connected.", as_json)
    if not as_json and not came["url"].startswith("https://"):
        print_note(
            f"For the microphone and reading offline, let the phone trust this computer: open {came['url']}/tls on it."
        )


app = group(phone)


def _restarted(home: Home, *, is_reachable: bool) -> tuple[Api, dict[str, Any]]:
    """Wait until the computer has restarted as wanted; errors: Conflict if it took that back, Unavailable."""
    deadline = time.monotonic() + _RESTART_SECONDS
    while time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
        try:
            api = Api.find(home)
            found = api.get("/api/phone")
        except ParachuteError:
            continue  # it restarts
        if found["problem"]:
            raise Conflict(found["problem"], "`parachute logs` says why.", key="taken_back")
        if found["is_reachable"] is is_reachable:
            return api, found
    raise Unavailable("The computer did not come back.", "`parachute logs` says why.", key="not_back")


def _wait(api: Api, address: str, others: list[str], *, as_json: bool) -> dict[str, Any]:
    """Show codes, each until it ends, and return the browser that came in."""
    before = {each["id"] for each in _browsers(api)}
    while True:
        made = new_code(api, address=address)
        url = made["url"].partition("/#")[0]
        if as_json:
            print(json.dumps({name: made[name] for name in ("url", "code", "expires_at")}), flush=True)
        else:
            _show(made, others)
        ends = datetime.fromisoformat(made["expires_at"]) - _RENEWED_BEFORE
        while datetime.now(UTC) < ends:
            if came := next((each for each in _browsers(api) if each["id"] not in before), None):
                return {**came, "url": url}
            time.sleep(_POLL_SECONDS)


def _show(made: dict[str, Any], others: list[str]) -> None:
    print("Scan this with the camera of your phone. The phone has to be in the same network.")
    print_code(made["url"])
    print_facts([("Address", made["url"]), ("Until", local(made["expires_at"]))])
    if others:
        print_note(f"Another network of this computer: `parachute phone --address {others[0]}`.")
    print_note("If the page does not open, let the port through the firewall of this computer.")
    sys.stdout.flush()


def _browsers(api: Api) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get("/api/pairing/sessions")["sessions"]
    return found


def _say(state: dict[str, Any], sentence: str, as_json: bool) -> None:
    print(json.dumps(state) if as_json else sentence)
