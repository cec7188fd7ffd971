"""`parachute devices`: the browsers that are signed in."""

import typer

from parachute.cli.commands import JSON, group
from parachute.cli.output import local, print_rows
from parachute.config.settings.home import Home
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.service import Keys


def list_(as_json: bool = JSON) -> None:
    """List the browsers that are signed in, and when each was seen last."""
    browsers = _browsers()
    found = [
        {
            "id": each.id,
            "name": each.label,
            "scopes": [str(scope) for scope in each.scopes],
            "created_at": (each.created_at or each.since).isoformat(),
            "last_seen_at": each.last_used_at.isoformat() if each.last_used_at else None,
            "signed_in_with": each.parent,
            "address": browsers.address_of(each.id),
        }
        for each in browsers.list()
    ]
    print_rows(
        found,
        as_json,
        ["Id", "Name", "Scopes", "Last seen", "From"],
        lambda each: (
            each["id"],
            each["name"],
            " ".join(each["scopes"]),
            local(each["last_seen_at"]),
            each["address"] or "",
        ),
        "No browser is signed in. `parachute phone` connects your phone, `parachute open` opens one here.",
    )


def revoke(name: str = typer.Argument(help="Name or id of the browser.")) -> None:
    """Sign a browser out immediately."""
    ended = _browsers().revoke(name)
    print(f"The browser {ended.label} ({ended.id}) is signed out.")


app = group(list_, revoke)


def _browsers() -> BrowserSessions:
    home = Home.find().root
    return BrowserSessions(home, Keys(home))
