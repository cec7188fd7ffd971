"""`parachute usage`: what agents used, by whom, and its limits."""

from typing import Any

import typer

from parachute.base.errors import InvalidInput
from parachute.cli.api import Api, quoted
from parachute.cli.commands import JSON, group
from parachute.cli.identifiers import short
from parachute.cli.output import money, print_answer, print_note, print_rows

_SUBJECT = typer.Argument(
    metavar="SUBJECT", help="chats, guests, computer, questions, workspace:NAME, module:NAME or hook:NAME."
)
_GROUPINGS = ("day", "subject", "session", "model")


def show(
    by: str = typer.Option("day", "--by", help="day, subject, session or model."),
    days: int = typer.Option(30, "--days", min=1, max=3660, help="So far back, today with them."),
    as_json: bool = JSON,
) -> None:
    """Show what was used."""
    if by not in _GROUPINGS:
        raise InvalidInput(f"--by: expected one of {', '.join(_GROUPINGS)}.", key="unknown_grouping")
    found = Api.find().get("/api/usage/costs", by=by, days=days)["costs"]
    print_rows(
        found,
        as_json,
        [by.capitalize(), "Requests", "Input", "Output", "Cached", "Dollars"],
        lambda each: (
            short(each[by]) if by == "session" else each[by] or "earlier",
            f"{each['requests']:,}",
            f"{each['input_tokens'] + each['cache_write_tokens']:,}",
            f"{each['output_tokens']:,}",
            f"{each['cache_read_tokens']:,}",
            money(each["dollars"]),
        ),
        "Nothing was used.",
    )
    if not as_json and (unpriced := sum(each.get("unpriced", 0) for each in found)):
        print_note(f"Of {unpriced:,} requests to servers elsewhere the price is not known; it is not in these dollars.")


def limits(as_json: bool = JSON) -> None:
    """List the limits, and what is used of each."""
    print_rows(
        Api.find().get("/api/usage/limits")["limits"],
        as_json,
        ["Subject", "Limit", "Used"],
        lambda each: (each["subject"], _limit(each), _used(each)),
        "There are no limits but those of the whole computer: `daily_spending_limit` and `daily_token_limit`.",
    )


def limit(
    subject: str = _SUBJECT,
    dollars: float = typer.Option(None, "--dollars", min=0, help="US dollars, where an API key pays."),
    tokens: int = typer.Option(None, "--tokens", min=0, help="Tokens of a Claude subscription."),
    per: str = typer.Option("day", "--per", help="day or month."),
    as_json: bool = JSON,
) -> None:
    """Set what a subject may use in each day or month."""
    body = {"per": per, "dollars": dollars, "tokens": tokens}
    said = Api.find().put(f"/api/usage/limits/{quoted(subject)}", body)
    print_answer(said, as_json, f"{subject} may use {_limit(said)}.")


def unlimit(subject: str = _SUBJECT, as_json: bool = JSON) -> None:
    """Take a limit away."""
    said = Api.find().delete(f"/api/usage/limits/{quoted(subject)}")
    print_answer(said, as_json, f"{subject} no longer has a limit of its own.")


app = group(show, limits, limit, unlimit)


def _limit(each: dict[str, Any]) -> str:
    parts = []
    if each["dollars"] is not None:
        parts.append(money(each["dollars"]))
    if each["tokens"] is not None:
        parts.append(f"{each['tokens']:,} tokens")
    return f"{' or '.join(parts)} a {each['per']}"


def _used(each: dict[str, Any]) -> str:
    used = each["used"]
    parts = []
    if each["dollars"] is not None:
        parts.append(money(used["dollars"]))
    if each["tokens"] is not None:
        parts.append(f"{used['subscription_tokens']:,} tokens")
    return ", ".join(parts)
