"""`parachute update`: a new version, rehearsed beside the running one, and the way back."""

import asyncio
import time
from pathlib import Path
from typing import Any

import typer
from msgspec import to_builtins

from parachute.base.errors import Conflict, InvalidInput
from parachute.cli.asking import agrees
from parachute.cli.commands import JSON, group
from parachute.cli.output import local, print_answer, print_error, print_json, print_note
from parachute.config.settings.home import Home
from parachute.ops.updates.models import ENDS, IN_PLACE, Phase, Update, rooted
from parachute.ops.updates.orders import Orders, Situation

_BEGIN_SECONDS = 30.0
_POLL_SECONDS = 0.3
_CALLED = {
    Phase.STAGING: "Installing the new version beside the running one",
    Phase.REHEARSING: "Rehearsing the new version on copies",
    Phase.PUTTING: "Putting it in place",
    Phase.PROBATION: "On probation",
    Phase.BLESSING: "It stays",
    Phase.RETURNING: "The version before comes back",
}


def update(
    context: typer.Context,
    source: Path = typer.Option(
        None,
        "--from",
        metavar="PATH",
        help="A clone of the repository or a wheel; without it, from where it came last.",
    ),
    unrehearsed: bool = typer.Option(
        False, "--unrehearsed", help="Update without a rehearsal, such as without user namespaces."
    ),
    follow: bool = typer.Option(True, "--follow/--no-follow", help="Stay and show how far it is."),
    as_json: bool = JSON,
) -> None:
    """Update this computer: the new version is rehearsed on copies before it takes over, and watched before it stays."""
    if context.invoked_subcommand is not None:
        return
    orders = Orders(Home.find())
    named = None
    if source is not None:
        named = source.expanduser().absolute()
        if not named.exists():
            raise InvalidInput(
                f"There is no {source}.", "Name a clone of the repository or a wheel.", key="no_such_source"
            )
    before = orders.last()
    asyncio.run(orders.begin(named, unrehearsed=unrehearsed))
    _shown(orders, before, Phase.DONE, as_json, follow=follow)


def status(as_json: bool = JSON) -> None:
    """Show which version runs, and how far an update is or how the last one ended."""
    situation = asyncio.run(Orders(Home.find()).situation())
    if as_json:
        print_json(_document(situation))
        return
    named = f" ({situation.running.name})" if situation.running.name != situation.number else ""
    print(f"Version {situation.number}{named} {'runs' if situation.runs else 'is this program; nothing runs'}.")
    if situation.update is None:
        print("There was no update yet.")
        return
    _print(situation.update, is_under_way=situation.is_under_way)
    if situation.can_go_back:
        print_note("`parachute update back` restores the version before.")


def back(
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask."),
    follow: bool = typer.Option(True, "--follow/--no-follow", help="Stay and show how far it is."),
    as_json: bool = JSON,
) -> None:
    """Put the version before the last update in place again, with the state that it can read."""
    orders = Orders(Home.find())
    situation = asyncio.run(orders.situation())
    previous = situation.update.previous if situation.update is not None else None
    if situation.can_go_back and situation.update is not None and previous is not None and not yes:
        since = f"What was written since {local(situation.update.began)} and it cannot read is kept, and named."
        if not agrees(f"Go back to version {previous.name}? {since}"):
            raise typer.Exit(1)
    before = situation.update
    asyncio.run(orders.go_back())
    _shown(orders, before, Phase.BACK, as_json, follow=follow)


def cancel(as_json: bool = JSON) -> None:
    """Cancel an update that is not put in place yet; nothing has changed."""
    orders = Orders(Home.find())
    asyncio.run(orders.cancel())
    still = asyncio.run(orders.situation()).running.name
    print_answer({"cancelled": True}, as_json, f"Update cancelled. You still run {still}.")


app = group(status, back, cancel, bare=update)


def _shown(orders: Orders, before: Update | None, wanted: Phase, as_json: bool, *, follow: bool) -> None:
    if follow:
        situation = _followed(orders, before, quiet=as_json)
        ended = situation.update
        if as_json:
            print_json(_document(situation))
        elif ended is not None:
            _print_end(ended)
        if ended is None or ended.phase not in (wanted, Phase.NEWEST):
            raise typer.Exit(1)
    else:
        print_answer({"begun": True}, as_json, "It has begun. `parachute update status` shows how far it is.")


def _followed(orders: Orders, before: Update | None, *, quiet: bool) -> Situation:
    """Show each step until the end; Ctrl-C leaves it going on."""
    said: set[str] = set()

    def say(text: str) -> None:
        if not quiet and text not in said:
            said.add(text)
            print_note(text)

    deadline = time.monotonic() + _BEGIN_SECONDS
    try:
        while True:
            situation = asyncio.run(orders.situation())
            found = situation.update
            if found is not None and (before is None or found.at != before.at):
                for text in _progress(found):
                    say(text)
                if found.phase in ENDS and not situation.is_under_way:
                    return situation
            elif time.monotonic() > deadline and not situation.is_under_way:
                raise Conflict(
                    "The update did not begin.", "`parachute logs update` shows why.", key="update_not_begun"
                )
            time.sleep(_POLL_SECONDS)
    except KeyboardInterrupt:
        print_note(
            "The update continues. `parachute update status` shows its progress, `parachute update cancel` ends it."
        )
        raise typer.Exit(130) from None


def _progress(found: Update) -> list[str]:
    lines = [f"{_CALLED[found.phase]} ..."] if found.phase in _CALLED else []
    if found.phase is Phase.PROBATION and found.until:
        lines = [f"Version {found.new.name if found.new else ''} runs, on probation until {local(found.until)} ..."]
    if found.step:
        lines.append(f"  {found.step} ...")
    return [*lines, *(f"  {'ok  ' if check.ok else 'FAIL'}  {check.sentence}" for check in found.checks)]


def _print(found: Update, *, is_under_way: bool) -> None:
    if found.phase in ENDS:
        _print_end(found)
        return
    for line in _progress(found):
        print(line)
    if not is_under_way and found.phase not in IN_PLACE:
        print("It was cut off; nothing has changed.")
    elif not is_under_way:
        hint = "`parachute update` resumes it, `parachute restart` takes it back."
        print_error("The update was interrupted.", rooted().hint if found.manager == "nixos" else hint)


def _print_end(found: Update) -> None:
    new = found.new.name if found.new else ""
    for change in found.changes:
        print(f"  {change}")
    if found.phase is Phase.DONE:
        print(f"Version {new} is in place since {local(found.at)}.")
    elif found.phase is Phase.NEWEST:
        print(f"You have the newest version ({found.old.name}).")
    elif found.phase is Phase.CANCELLED:
        print(f"Update cancelled. You still run {found.old.name}.")
    elif found.phase is Phase.REFUSED:
        print(f"Nothing has changed: {found.problem}")
    else:
        print(f"Version {found.old.name} is in place again{f': {found.problem}' if found.problem else '.'}")
    for check in found.checks:
        if not check.ok:
            print(f"  {check.sentence}{f' {check.detail}' if check.detail else ''}")
    for sentence in found.since:
        print(f"  {sentence}")
    if found.hint:
        print_note(found.hint)


def _document(situation: Situation) -> dict[str, Any]:
    document: dict[str, Any] = to_builtins(situation, enc_hook=str)
    return document
