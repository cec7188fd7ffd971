"""`parachute open`: the console, signed in, in the browser of the person who started the computer."""

import html
import os
import shutil
import subprocess
import sys
from pathlib import Path

import typer

from parachute.base.errors import Unavailable
from parachute.base.files import atomic_write
from parachute.cli import own_command
from parachute.cli.api import Api
from parachute.cli.commands import group
from parachute.cli.commands.first_boot import refuse_journal
from parachute.cli.commands.pair import new_code
from parachute.cli.output import print_note
from parachute.config.settings.home import Home


def open_(link: bool = typer.Option(False, "--link", help="Print the link instead of opening it.")) -> None:
    """Open the console in your browser, signed in."""
    home = Home.find()
    api = Api.find(home)
    if link or (program := opener()) is None:
        refuse_journal()
        print(sign_in_link(api))
        if not link:
            print_note("No desktop was found here. Open this link in a browser; it signs in once, within five minutes.")
        return
    open_browser(home, api, program)


app = group(open_)


def sign_in_link(api: Api) -> str:
    """An address of this machine itself that signs a browser in once; errors: Refused, Unavailable."""
    return f"{api.url}/#pair={new_code(api)['code']}"


def opener() -> str | None:
    """The program that opens files on this desktop, None where there is no desktop."""
    if sys.platform == "darwin":
        return shutil.which("open")
    has_desktop = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return shutil.which("xdg-open") if has_desktop and "SSH_CONNECTION" not in os.environ else None


def open_browser(home: Home, api: Api, program: str) -> None:
    """Open the console, signed in, and say so; error: Unavailable."""
    page = _page(home, sign_in_link(api))
    done = subprocess.run(
        [program, str(page)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode != 0:
        raise Unavailable(
            f"The browser could not be opened: {done.stderr.strip()[-200:] or f'{program} failed'}.",
            f"`{own_command.how()} open --link` prints the link.",
            key="no_browser_opened",
        )
    print(f"The console opens in your browser. If it does not: `{own_command.how()} open --link`")


def _page(home: Home, link: str) -> Path:
    """A file of this user alone that leads to the link: what a program is started with, other users can read."""
    page = home.run / "open.html"
    safe = html.escape(link, quote=True)
    atomic_write(
        page,
        f'<!doctype html><meta charset="utf-8"><title>Parachute</title><meta http-equiv="refresh" content="0; url={safe}">'
        f'<p><a href="{safe}">Open the console</a></p>\n',
        0o600,
    )
    return page
