"""`parachute inbox`: everything that waits for you, in one list."""

import http.client
from typing import Any

import typer

from parachute.base.errors import InvalidInput, Unavailable
from parachute.cli.api import Api
from parachute.cli.asking import ask, can_ask, confirm
from parachute.cli.changed_files import one_line, waiting_lines
from parachute.cli.commands import JSON, YES, group
from parachute.cli.commands.suggestions import shown_suggestion
from parachute.cli.event_stream import documents
from parachute.cli.identifiers import short, whole
from parachute.cli.output import ago, clean, print_answer, print_error, print_json, print_note, print_table
from parachute.cli.plain import plain_lines
from parachute.cli.question import answers_of

_ID = typer.Argument(metavar="ID", help="Id of what waits; its beginning is enough.")
_SECONDS = 120.0


def _list(context: typer.Context, as_json: bool = JSON) -> None:
    """List everything that waits for you, the oldest first."""
    if context.invoked_subcommand is None:
        _print(Api.find().get("/api/inbox"), as_json)


def show(identifier: str = _ID, as_json: bool = JSON) -> None:
    """Show one item with everything that an answer decides about."""
    item = _find(Api.find(), identifier)
    print_answer(item, as_json, _shown(item))


def answer(
    identifier: str = _ID,
    word: str = typer.Argument(None, metavar="ANSWER", help="One of its answers; without it you are asked."),
    yes: bool = YES,
    as_json: bool = JSON,
) -> None:
    """Answer one item, after you have seen it; no answer is no."""
    api = Api.find()
    item = _find(api, identifier)
    if not item["answers"]:
        raise InvalidInput(
            f"{item['title']} cannot be answered here.",
            item["command"] and f"Use `{item['command']}`.",
            key="not_answerable_here",
        )
    if word is not None and word not in item["answers"]:
        raise InvalidInput(f"ANSWER: expected one of {', '.join(item['answers'])}.", key="unknown_answer")
    if not yes and not as_json:
        print(_shown(item))
    if word is None:
        word = _chosen(item["answers"])
    else:
        confirm(f"Answer {word!r}?", "Nothing was answered.", yes=yes, as_json=as_json)
    values = answers_of(item["details"]["questions"]) if item["kind"] == "question" and word == "answer" else {}
    body = {"id": item["id"], "hash": item["hash"], "answer": word, "values": values}
    said = api.post("/api/inbox/answer", body, _SECONDS)
    print_answer(said, as_json, f"{item['title']}: {word}.")


def watch(as_json: bool = JSON) -> None:
    """Follow what waits until Ctrl-C; meanwhile agents at work may ask you for permissions."""
    with Api.find().stream("GET", "/api/inbox/events") as response:
        try:
            for page in documents(response):
                _print(page, as_json)
        except KeyboardInterrupt:
            return
        except (OSError, http.client.HTTPException):
            pass
    raise Unavailable("The connection was lost.", "`parachute status` shows what runs.", key="connection_lost")


app = group(show, answer, watch, bare=_list)


def _find(api: Api, identifier: str) -> dict[str, Any]:
    items = {str(item["id"]): item for item in api.get("/api/inbox")["items"]}
    # `parachute suggestions` calls them by names of their own.
    items |= {str(each["details"]["id"]): each for each in items.values() if each["kind"] == "suggestion"}
    return dict(items[whole(identifier, items, "item that waits", "`parachute inbox` shows what waits.")])


def _print(page: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json({"items": page["items"], "problems": page["problems"]})
        return
    for problem in page["problems"]:
        print_error(problem)
    if not page["items"]:
        print_note("Nothing waits for you.")
        return
    rows = [(short(each["id"]), each["title"], each["source"], _since(each)) for each in page["items"]]
    print_table(["Id", "What waits", "From", "Since"], rows)
    print_note("`parachute inbox show ID` shows one, `parachute inbox answer ID` answers it.")


def _since(item: dict[str, Any]) -> str:
    return ago(item["since"]) if item["since"] else ""


def _shown(item: dict[str, Any]) -> str:
    if item["kind"] == "suggestion":
        return shown_suggestion(item["details"]) + clean(f"\n  Answers: {', '.join(item['answers'])}")
    lines = [f"{short(item['id'])}  {item['title']}", f"  From: {item['source']}"]
    if item["since"]:
        lines.append(f"  Since: {ago(item['since'])}")
    # Nothing is cut: an answer covers all of it.
    text = _changes(item["details"]) if item["kind"] == "changes" else "\n".join(plain_lines(item["details"]))
    lines += [f"    {line}" for line in text.splitlines()]
    if item["answers"]:
        lines.append(f"  Answers: {', '.join(item['answers'])}")
    if item["link"]:
        lines.append(f"  Link: {item['link']}")
    if item["command"]:
        lines.append(f"  More: {item['command']}")
    return clean("\n".join(lines))


def _changes(details: dict[str, Any]) -> str:
    """Return the waiting changes of a run, with the first differences."""
    lines = waiting_lines(details["files"])
    if details["more"]:
        lines.append(f"    … {details['more']} more")
    for path, difference in details["diffs"].items():
        lines += ["", one_line(path), *(difference or "").splitlines()] if difference else []
    return "\n".join(line.removeprefix("    ") for line in lines)


def _chosen(answers: list[str]) -> str:
    if not can_ask():
        print_note("Nothing was answered. Name one of its answers.")
        raise typer.Exit(3)
    for number, each in enumerate(answers, 1):
        print(clean(f"  {number}  {each}"))
    said = ask("A number, or nothing:") or ""
    if not (said.isascii() and said.isdigit() and 1 <= int(said) <= len(answers)):
        print_note("Nothing was answered.")
        raise typer.Exit(1)
    return answers[int(said) - 1]
