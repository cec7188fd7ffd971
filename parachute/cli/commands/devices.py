"""`parachute devices`: the browsers that are signed in."""

from typing import Any

import typer

from parachute.base.errors import NotFound
from parachute.cli.api import Api
from parachute.cli.commands import JSON, group
from parachute.cli.output import local, print_answer, print_rows
from parachute.config.settings.home import Home
from parachute.connectors.push.store import Subscriptions
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.service import Keys

_NAME = typer.Argument(help="Name or id of the browser.")


def list_(as_json: bool = JSON) -> None:
    """List the browsers that are signed in, and when each was seen last."""
    browsers, told = _browsers(), {each.device: each for each in Subscriptions(Home.find().root).all()}
    found = [
        {
            "id": each.id,
            "name": each.label,
            "scopes": [str(scope) for scope in each.scopes],
            "created_at": (each.created_at or each.since).isoformat(),
            "last_seen_at": each.last_used_at.isoformat() if each.last_used_at else None,
            "signed_in_with": each.parent,
            "address": browsers.address_of(each.id),
            "notices": told[each.id].target.host if each.id in told else None,
        }
        for each in browsers.list()
    ]
    print_rows(
        found,
        as_json,
        ["Id", "Name", "Scopes", "Last seen", "From", "Notices by"],
        lambda each: (
            each["id"],
            each["name"],
            " ".join(each["scopes"]),
            local(each["last_seen_at"]),
            each["address"] or "",
            each["notices"] or "",
        ),
        "No browser is signed in. `parachute phone` connects your phone, `parachute open` opens one here.",
    )


def revoke(name: str = _NAME) -> None:
    """Sign a browser out immediately."""
    ended = _browsers().revoke(name)
    print(f"The browser {ended.label} ({ended.id}) is signed out.")


def try_(name: str = _NAME, as_json: bool = JSON) -> None:
    """Send a browser a notice, to see whether notices arrive."""
    api = Api.find()
    device = _told(api, name)
    said = api.post(f"/api/push/devices/{device['id']}/test")
    print_answer(said, as_json, f"A notice is on its way to {device['name']} by {device['service']}.")


def quiet(name: str = _NAME, as_json: bool = JSON) -> None:
    """Send a browser no notices any more; it stays signed in."""
    api = Api.find()
    device = _told(api, name)
    said = api.delete(f"/api/push/devices/{device['id']}")
    print_answer(said, as_json, f"{device['name']} gets no notices any more.")


app = group(list_, try_, quiet, revoke)


def _told(api: Api, name: str) -> dict[str, Any]:
    """Return the only browser of this name or id that gets notices; error: NotFound."""
    found: list[dict[str, Any]] = api.get("/api/push")["devices"]
    those = [each for each in found if each["id"] == name] or [each for each in found if each["name"] == name]
    if len(those) != 1:
        raise NotFound(
            f"{len(those) or 'No'} browser{'s' if those else ''} of the name {name[:100]!r} {'get' if those else 'gets'} notices.",
            "`parachute devices list` shows ids, and which get notices.",
            key="device_not_told",
        )
    return those[0]


def _browsers() -> BrowserSessions:
    home = Home.find().root
    return BrowserSessions(home, Keys(home))
