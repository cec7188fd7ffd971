"""The emergency kit at the terminal: as text and a QR code, as a page for a printer, and opened with what is typed back."""

import sys
from datetime import UTC, datetime

import segno

from parachute import __version__
from parachute.cli.asking import can_ask, confirm, secret
from parachute.cli.output import print_answer, print_facts, print_json, print_note
from parachute.config.settings.home import Home
from parachute.ops.backup.kit.models import Kit, fingerprint
from parachute.ops.backup.kit.page import NEEDS, page
from parachute.ops.backup.kit.service import check_kit, read_kit

_LONGEST = 8000


def show(*, html: bool, yes: bool, as_json: bool) -> None:
    """Show the kit once a person agrees: whoever sees it can read every backup."""
    home = Home.find()
    confirm("The kit gives access to your backups. Show it?", "Nothing was shown.", yes=yes, as_json=as_json)
    kit = read_kit(home)
    today = datetime.now(UTC).date().isoformat()
    if as_json:
        print_json(
            {
                "repository": kit.repository,
                "password": kit.password,
                "credentials": dict(kit.variables),
                "needs": kit.needs,
                "fingerprint": fingerprint(kit.identity or ""),
                "version": __version__,
                "made_on": today,
                "text": kit.text,
            }
        )
    elif html:
        print(page(kit, today))
    else:
        _print(kit, today)


def check(as_json: bool) -> None:
    """Open the backups with what somebody types, or what comes on standard input."""
    brought = secret("Password on the kit") if can_ask() else sys.stdin.read(_LONGEST + 1)
    found = check_kit(Home.find(), brought)
    answer = {"opened_at": found.at, "fingerprint": fingerprint(found.identity)}
    print_answer(answer, as_json, "The kit opens your backups: they are protected.")


def _print(kit: Kit, today: str) -> None:
    print(kit.text)
    print()
    segno.make_qr(kit.text, error="m", encoding="utf-8").terminal(compact=True)
    facts = [("Fingerprint", fingerprint(kit.identity or "")), ("Version", __version__), ("Date", today)]
    print_facts([*facts, *([("Also needed", NEEDS[kit.needs][0])] if kit.needs else [])])
    print_note("Write it down or print it (`parachute backup kit --html`), and keep it away from the computer.")
    print_note("Then test it by typing its password: `parachute backup kit --check`.")
