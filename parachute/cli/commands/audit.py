"""`parachute audit`: who did what."""

import json
import time
from collections.abc import Mapping
from typing import Any

import typer

from parachute.cli.api import Api
from parachute.cli.commands import JSON, group
from parachute.cli.identifiers import short, whole_session
from parachute.cli.output import as_json as json_line
from parachute.cli.output import clean, counted, local, print_error, print_json, print_note, print_rows, print_table

_PATH = "/api/audit"
_LIMIT = typer.Option(50, "--limit", "-n", min=1, max=1000, help="How many at the most.")
_FROM = typer.Option(
    None, "--from", metavar="TIME", help="At or after this time, such as 2026-01-31 or 2026-01-31T08:00Z."
)
_TO = typer.Option(None, "--to", metavar="TIME", help="Before this time.")
_SOURCE = typer.Option(
    None, "--source", help="A kind of caller or its name, such as agent, api_key or the name of a key."
)
_MODULE = typer.Option(None, "--module", help="The module that was asked.")
_HOST = typer.Option(None, "--host", help="A host that was reached.")
_EVENT = typer.Option(None, "--event", help="A kind of record, such as api_call, run, tool_call or egress.")
_POLL_SECONDS = 2.0


def _list(
    limit: int = _LIMIT,
    since: str = _FROM,
    until: str = _TO,
    source: str = _SOURCE,
    module: str = _MODULE,
    host: str = _HOST,
    event: str = _EVENT,
    as_json: bool = JSON,
) -> None:
    """List what was done, newest first."""
    found = _records(limit, **{"from": since, "to": until}, source=source, module=module, host=host, event=event)
    _print(found, as_json)


def session(
    identifier: str = typer.Argument(metavar="SESSION", help="Id of a conversation; its beginning is enough."),
    limit: int = _LIMIT,
    as_json: bool = JSON,
) -> None:
    """List what one conversation did, newest first."""
    _print(_records(limit, session=whole_session(Api.find(), identifier)), as_json)


def file(
    path: str = typer.Argument(metavar="PATH", help="Path of a file, or the end of it."),
    limit: int = _LIMIT,
    as_json: bool = JSON,
) -> None:
    """List what read or wrote a file, newest first."""
    _print(_records(limit, file=path), as_json)


def follow(as_json: bool = JSON) -> None:
    """Show what is done as it is done, until Ctrl-C."""
    seen = {_key(each) for each in _records(100)}
    try:
        while True:
            time.sleep(_POLL_SECONDS)
            found = _records(1000)
            new = [each for each in found if _key(each) not in seen]
            seen = {_key(each) for each in found}
            for each in reversed(new):
                print(json_line(each) if as_json else clean("  ".join(_row(each))))
    except KeyboardInterrupt:
        return


def graph(hours: int = typer.Option(24, "--hours", min=1, max=8784, help="So far back."), as_json: bool = JSON) -> None:
    """Show who asked whom, how often and how long it took."""
    found = Api.find().get(f"{_PATH}/graph", hours=hours)
    print_rows(
        found["edges"],
        as_json,
        ["From", "To", "Requests", "Failed", "Mean", "Longest"],
        lambda each: (
            each["from"],
            each["to"],
            str(each["requests"]),
            str(each["failures"]),
            f"{each['total_ms'] // each['requests']:,} ms",
            f"{each['longest_ms']:,} ms",
        ),
        "Nothing was done.",
    )


def verify(as_json: bool = JSON) -> None:
    """Look for records that were altered, removed, added or moved; exit code 1 if there are any."""
    found = Api.find().get(f"{_PATH}/verify")
    if as_json:
        print_json(found)
    else:
        rows = [(each["day"], str(each["line"] or ""), each["sentence"]) for each in found["problems"]]
        if rows:
            print_table(["Day", "Line", "What is wrong"], rows)
        earlier = f" {found['before']:,} from an older version are not chained." if found["before"] else ""
        print_note(f"{counted(found['records'], 'record')} of {counted(found['days'], 'day')} were compared.{earlier}")
    if not found["is_whole"]:
        if not as_json:
            print_error("The audit log was altered.", "A backup has the days as they were.")
        raise typer.Exit(1)
    if not as_json:
        print("The audit log is intact.")


def export(since: str = _FROM, until: str = _TO, source: str = _SOURCE, module: str = _MODULE) -> None:
    """Print every record as a line of JSON, newest first."""
    before: str | None = None
    while True:
        page = Api.find().get(
            _PATH, limit=1000, before=before, **{"from": since, "to": until}, source=source, module=module
        )
        for each in page["records"]:
            print(json_line(each))
        before = page["next"]
        if before is None:
            return


app = group(_list, follow, session, file, graph, verify, export)


def _records(limit: int, **query: str | None) -> list[dict[str, Any]]:
    found = Api.find().get(_PATH, limit=limit, **query)["records"]
    return [dict(each) for each in found]


def _print(found: list[dict[str, Any]], as_json: bool) -> None:
    print_rows(found, as_json, ["Time", "What", "Who", "Where", "Result"], _row, "Nothing was recorded.")


def _row(record: Mapping[str, Any]) -> tuple[str, ...]:
    kind, name = str(record["source_type"]), str(record["source_id"])
    who = short(name) if kind == "agent" else name
    where = str(record.get("summary") or record["target_endpoint"])
    paths = ", ".join(str(each.get("path")) for each in record.get("files", ()))
    result = "done" if record["success"] else str(record["error"])
    return local(record["timestamp"]), str(record["event_type"]), f"{kind} {who}", f"{where} {paths}".strip(), result


def _key(record: Mapping[str, Any]) -> str:
    return str(record.get("previous") or json.dumps(record, sort_keys=True))
