"""`parachute tls`: the certificate with which the computer answers https."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import typer

from parachute.base.errors import InvalidInput, Unavailable
from parachute.cli.api import Api
from parachute.cli.asking import confirm
from parachute.cli.commands import JSON, YES, group
from parachute.cli.fingerprints import in_two_lines
from parachute.cli.output import clean, local, print_answer, print_error, print_facts, print_json, print_note
from parachute.config.settings.home import Home
from parachute.web.first_boot.screen import code_lines
from parachute.web.tls.models import Authority
from parachute.web.tls.store import Store

_SECONDS = 90.0


def status(as_json: bool = JSON) -> None:
    """Show the certificate, its names, and until when it is valid."""
    found = Api.find().get("/api/tls")
    if as_json:
        print_json(found)
        return
    if not found["enabled"]:
        print_note("TLS is off: only this machine can connect, or tls.enabled says so. `parachute config` shows both.")
        return
    print_facts(_facts(found))
    for problem in found["problems"]:
        print_error(problem)
    if not found["ready"] and not found["problems"]:
        print_note("The certificate is not made yet; it takes a second after the first start.")


def show(as_json: bool = JSON) -> None:
    """Show the fingerprint to compare on a phone, and a code that opens the page with the steps."""
    found = _ready(Api.find())
    # Without encryption: whoever reads it does not trust this computer yet.
    pages = [f"http{url.removeprefix('https')}/tls" for url in found["urls"]]
    if as_json:
        print_json({"fingerprint": found["authority"]["fingerprint"], "pages": pages, "urls": found["urls"]})
        return
    first, second = in_two_lines(found["authority"]["fingerprint"])
    print_facts(
        [
            *(("Page", page) for page in pages),
            ("Authority", found["authority"]["name"]),
            ("Fingerprint", first),
            ("", second),
        ]
    )
    if sys.stdout.isatty():
        for line in code_lines(pages[-1]):
            print(f"\033[0;97;40m{line}\033[0m")
    print_note("Trust the certificate on a device only if the device shows this fingerprint (SHA-256) for it.")


def renew(
    authority: bool = typer.Option(
        False, "--authority", help="Also replace the authority; every device must then trust the new one."
    ),
    yes: bool = YES,
    as_json: bool = JSON,
) -> None:
    """Make the certificate anew; open connections go on."""
    api = Api.find()
    if authority:
        confirm(
            "Replace the authority? Every device must then trust the new one.",
            "Nothing was made.",
            yes=yes,
            as_json=as_json,
        )
    made = api.post("/api/tls/renew", {"authority": authority}, _SECONDS)
    print_answer(made, as_json, f"The new certificate is valid until {local(made['certificate']['expires_at'])}.")


def trust(
    remove: bool = typer.Option(False, "--remove", help="Take the trust back."),
    as_json: bool = JSON,
) -> None:
    """Let Chromium, Chrome and Firefox of your user on this machine trust the computer (Linux)."""
    if sys.platform != "linux":
        raise InvalidInput("This is for Linux.", "docs/tls.md has the steps for this system.", key="not_on_this_system")
    _ready(Api.find())
    issued = Store(Home.find().root).read()
    if issued is None:
        raise Unavailable(
            "The certificate cannot be read.", "`parachute tls renew` makes another.", key="no_certificate"
        )
    authority = issued.authority
    databases = _databases()
    for database in databases:
        _change(database, authority, remove)
    done = [str(database) for database in databases]
    if as_json:
        print_json({"authority": authority.name, "databases": done, "trusted": not remove})
        return
    print(clean(f"{authority.name} is {'no longer trusted' if remove else 'trusted'} by browsers with:"))
    for each in done:
        print(clean(f"  {each}"))
    print_note("Restart running browsers. Other programs: docs/tls.md.")


app = group(status, show, renew, trust)


def _ready(api: Api) -> dict[str, Any]:
    found: dict[str, Any] = api.get("/api/tls")
    if not found["ready"]:
        raise Unavailable("The computer has no certificate.", "`parachute tls status` says why.", key="no_certificate")
    return found


def _facts(found: dict[str, Any]) -> list[tuple[str, str]]:
    facts = [("Address", url) for url in found["urls"]]
    if certificate := found["certificate"]:
        facts += [("Names", ", ".join(certificate["names"])), ("Valid until", local(certificate["expires_at"]))]
        facts += [("Renewed", local(found["renews_at"]))]
    if own := found["own"]:
        facts += [("Your own", f"{', '.join(own['names'])}, valid until {local(own['expires_at'])}")]
    if authority := found["authority"]:
        first, second = in_two_lines(authority["fingerprint"])
        facts += [("Authority", authority["name"]), ("Fingerprint", first), ("", second)]
        facts += [("May sign", ", ".join(authority["permitted"]))]
    return facts


def _databases() -> list[Path]:
    """The databases of certificates of Chromium and Chrome, and of each profile of Firefox."""
    profiles = sorted((Path.home() / ".mozilla" / "firefox").glob("*/cert9.db"))
    return [Path.home() / ".pki" / "nssdb", *(each.parent for each in profiles)]


def _change(database: Path, authority: Authority, remove: bool) -> None:
    if not (database / "cert9.db").exists():
        if remove:
            return
        database.mkdir(mode=0o700, parents=True, exist_ok=True)
        _certutil(database, "-N", "--empty-password")
    if remove:
        _certutil(database, "-D", "-n", authority.name)
        return
    with tempfile.NamedTemporaryFile("w", suffix=".crt") as file:
        file.write(authority.pem)
        file.flush()
        _certutil(database, "-A", "-t", "C,,", "-n", authority.name, "-i", file.name)


def _certutil(database: Path, *arguments: str) -> None:
    try:
        done = subprocess.run(
            ["certutil", "-d", f"sql:{database}", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise Unavailable(
            "The program certutil is not installed.",
            "Install it: sudo apt-get install libnss3-tools",
            key="no_certutil",
        ) from error
    if done.returncode:
        raise Unavailable(
            f"certutil says: {done.stderr.strip()[-300:]}",
            "Is the browser open? Close it and try again.",
            key="certutil_failed",
        )
