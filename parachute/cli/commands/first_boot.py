"""`parachute first-boot`: the key with which a new computer is set up, shown where its owner stands."""

import asyncio
import os
import sys
from datetime import UTC, datetime

import typer

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.cli.api import ask_supervisor
from parachute.cli.commands import JSON, group
from parachute.cli.fingerprints import in_two_lines
from parachute.cli.installation import settings
from parachute.cli.output import print_facts, print_json, print_note
from parachute.config.settings.home import Home
from parachute.security.keys.service import Keys
from parachute.web.discovery.avahi import announced_name
from parachute.web.first_boot.addresses import addresses
from parachute.web.first_boot.screen import Welcome, code_lines, console_lines
from parachute.web.first_boot.service import FirstBoot, current_boot
from parachute.web.tls.making import make
from parachute.web.tls.store import Store
from parachute.web.tls.wanted import is_wanted


def first_boot(
    console: bool = typer.Option(False, "--console", help="Fill a console of 80 columns, even without a terminal."),
    again: bool = typer.Option(False, "--again", help="Start over with a new key, even after set-up."),
    as_json: bool = JSON,
) -> None:
    """Create the key that sets up a new computer, and show it with its address and a QR code."""
    refuse_journal()
    home = Home.find()
    host, port = listening(home)
    name = asyncio.run(announced_name())
    urls = addresses(host, port, name)
    invitation = FirstBoot(home.root, Keys(home.root)).invite(again=again, boot=current_boot())
    fingerprint = _fingerprint(home, host)
    welcome = Welcome(urls, invitation.secret, fingerprint) if invitation.secret and urls else None
    if as_json:
        state = {"done": invitation.is_done, "reason": invitation.reason, "name": name, "urls": urls}
        state["fingerprint"] = fingerprint
        print_json({**state, "key": invitation.secret, "link": welcome.link if welcome else None})
        return
    if invitation.secret is None:
        print(invitation.reason)
        return
    _show(welcome, invitation.secret, console)
    if not urls:
        print_note(f"This machine has no network yet; it answers on port {port} of whatever address it gets.")
    elif urls[0].startswith(("http://localhost", "http://127.", "http://[::1]")):
        print_note("Only this computer reaches it. For others: parachute config set host 0.0.0.0, and start again.")


app = group(first_boot)


def listening(home: Home) -> tuple[str, int]:
    """Return the address of the running server, or else the one that it will have."""
    try:
        status = ask_supervisor(home, "status", 10)
        return str(status["main_server_host"]), int(status["main_server_port"])
    except ParachuteError:
        found = settings(home)
        return found.host, found.port


def _fingerprint(home: Home, host: str) -> str | None:
    """Return the fingerprint that a phone shows for the computer's authority, which is made here if the server has not yet; None without https."""
    try:
        found = settings(home)
        if not is_wanted(found.model_copy(update={"host": host})):
            return None
        store = Store(home.root)
        if store.read() is None:
            make(home.root, datetime.now(UTC), found.hostnames, (found.tls.certificate, found.tls.key))
        issued = store.read()
    except (OSError, ParachuteError):
        return None  # `parachute tls status` says why; the key is worth more
    return issued.authority.fingerprint if issued is not None else None


def _show(welcome: Welcome | None, secret: str, console: bool) -> None:
    if welcome is None:
        print_facts([("Key", secret)])
        return
    on_screen = sys.stdout.isatty()
    # White on black whatever the colours of the terminal are: not every camera reads the opposite.
    begin, end = ("\033[0;97;40m", "\033[0m") if on_screen else ("", "")
    if console:
        lines = console_lines(welcome)
        if on_screen:
            print("\033[0m\033[2J\033[H", end="")
    else:
        facts = [*(("Address", url) for url in welcome.urls), ("Key", secret)]
        if welcome.fingerprint:
            first, second = in_two_lines(welcome.fingerprint)
            facts += [("Fingerprint", first), ("", second)]
        print_facts(facts)
        lines = code_lines(welcome.link) if on_screen else []
    for line in lines:
        print(f"{begin}{line}{end}")


def refuse_journal() -> None:
    """See that a secret does not go to the journal, which keeps everything; error: InvalidInput."""
    status = os.fstat(sys.stdout.fileno())
    # systemd names the journal's end of the pipe by its device and inode, systemd.exec(5).
    if os.environ.get("JOURNAL_STREAM") == f"{status.st_dev}:{status.st_ino}":
        raise InvalidInput(
            "The key would be stored in systemd's journal.",
            "Show it on a terminal instead: StandardOutput=tty in the unit.",
            key="key_in_journal",
        )
