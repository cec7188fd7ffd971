"""`parachute inbox`: everything that waits for you, in one list."""

import http.client
import textwrap
from typing import Any

import typer

from parachute.base.errors import InvalidInput, Unavailable
from parachute.cli.api import Api
from parachute.cli.asking import ask, can_ask, confirm
from parachute.cli.commands import JSON, YES, group
from parachute.cli.commands.suggestions import shown_suggestion, with_preview
from parachute.cli.event_stream import documents
from parachute.cli.identifiers import short, whole
from parachute.cli.output import ago, clean, print_answer, print_error, print_json, print_note
from parachute.cli.question import answers_of, filled
from parachute.events.inbox.card import name
from parachute.events.inbox.cards import kinds

_ID = typer.Argument(metavar="ID", help="Id of what waits; its beginning is enough.")
_SECONDS = 120.0
_WIDTH = 80
_LISTED = 200
"""Characters of a sentence in the list."""


def _list(context: typer.Context, as_json: bool = JSON) -> None:
    """List everything that waits for you, the oldest first."""
    if context.invoked_subcommand is None:
        _print(Api.find().get("/api/inbox"), as_json)


def show(identifier: str = _ID, as_json: bool = JSON) -> None:
    """Show one item with everything that an answer decides about."""
    api = Api.find()
    item = _find(api, identifier)
    if as_json:
        print_json(item)
    else:
        print(_shown(api, item))


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
            "This cannot be answered here.",
            item["command"] and f"Use `{item['command']}`.",
            key="not_answerable_here",
        )
    if word is not None and word not in item["answers"]:
        raise InvalidInput(f"ANSWER: expected one of {', '.join(item['answers'])}.", key="unknown_answer")
    if not yes and not as_json:
        print(_shown(api, item))
    if word is None:
        word = _chosen(item["choices"])
    else:
        confirm(f"{_choice(item, word)['label']}?", "Nothing was answered.", yes=yes, as_json=as_json)
    values = _values(item) if word == "answer" else {}
    body = {"id": item["id"], "hash": item["hash"], "answer": word, "values": values}
    said = api.post("/api/inbox/answer", body, _SECONDS)
    print_answer(said, as_json, _choice(item, word)["done"])


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
    return dict(items[whole(identifier, items, "item that waits", "`parachute inbox` shows what waits.")])


def _print(page: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json({"items": page["items"], "problems": page["problems"]})
        return
    for problem in page["problems"]:
        print_error(problem)
    if not page["items"]:
        print_note("Nothing needs your decision.")
        return
    for each in page["items"]:
        lines = textwrap.wrap(textwrap.shorten(each["sentence"], _LISTED, placeholder=" …"), _WIDTH - 10)
        about = [*lines, *textwrap.wrap(_from(each), _WIDTH - 10)]
        print(clean(f"{short(each['id']):<10}" + "\n".ljust(11).join(about)))
    print_note("`parachute inbox show ID` shows one, `parachute inbox answer ID` answers it.")


def _from(item: dict[str, Any]) -> str:
    """The source of an item, and how long it has waited."""
    source = [] if name(item["source"]) in item["sentence"] else [f"from {name(item['source'])}"]
    return ", ".join([*source, *([ago(item["since"])] if item["since"] else [])])


def _shown(api: Api, item: dict[str, Any]) -> str:
    lines = textwrap.wrap(f"{short(item['id'])}  {item['sentence']}", _WIDTH, subsequent_indent=" " * 10)
    if item["kind"] == "suggestion":
        # The sentence stands for its heading.
        lines += shown_suggestion(with_preview(api, item["details"])).splitlines()[1:]
    else:
        lines += [f"  {about}"] if (about := _from(item)) else []
        # Nothing is cut: an answer covers all of it.
        details = [line for each in kinds()[item["kind"]].lines(item["details"]) for line in each.splitlines() or [""]]
        lines += ["", *(f"    {line}" for line in details)] if details else []
    if item["answers"]:
        width = max(map(len, item["answers"]))
        lines += ["", "  Answers:", *(f"    {each['answer']:<{width}}  {each['label']}" for each in item["choices"])]
    if item["link"]:
        lines.append(f"  Link: {item['link']}")
    if item["command"]:
        lines.append(f"  More: {item['command']}")
    return clean("\n".join(lines))


def _values(item: dict[str, Any]) -> dict[str, str | list[str]]:
    if item["kind"] == "question":
        return answers_of(item["details"]["questions"])
    return filled(item["details"]["fields"]) if item["kind"] == "mcp_question" else {}


def _choice(item: dict[str, Any], word: str) -> dict[str, str]:
    return next(each for each in item["choices"] if each["answer"] == word)


def _chosen(choices: list[dict[str, str]]) -> str:
    if not can_ask():
        print_note("Nothing was answered. Name one of its answers.")
        raise typer.Exit(3)
    for number, each in enumerate(choices, 1):
        print(clean(f"  {number}  {each['label']}"))
    said = ask("A number, or nothing:") or ""
    if not (said.isascii() and said.isdigit() and 1 <= int(said) <= len(choices)):
        print_note("Nothing was answered.")
        raise typer.Exit(1)
    return choices[int(said) - 1]["answer"]
