"""Questions and permission requests of the agent, put to the person at the terminal."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.chat.runs.events import PermissionRequest, UserQuestion
from parachute.cli.api import Api, quoted
from parachute.cli.asking import ask
from parachute.cli.output import clean, print_note

_INPUT_WIDTH = 2000


def ask_user(api: Api, event: UserQuestion) -> None:
    """Show the questions of the agent, read the answers and send them; Ctrl-D leaves them empty."""
    answers = answers_of(event.questions)
    try:
        path = f"/api/chat/{quoted(event.session_id)}/answer"
        api.post(path, {"request_id": event.request_id, "answers": answers})
    except ParachuteError as error:
        print_note(f"The answer did not arrive: {error.message}")


def answers_of(questions: Sequence[dict[str, Any]]) -> dict[str, str | list[str]]:
    """Ask each question, and return the answers by their questions."""
    return {str(question["question"]): _answer(question) for question in questions}


def filled(fields: Sequence[dict[str, Any]]) -> dict[str, str | list[str]]:
    """Ask for each field of an MCP server's form; an empty line leaves what it proposes."""
    found: dict[str, str | list[str]] = {}
    for field in fields:
        pairs = [(str(option["value"]), str(option["label"])) for option in field["options"]]
        pairs = pairs or ([("true", "Yes"), ("false", "No")] if field["kind"] == "boolean" else [])
        options = [{"label": label} for _, label in pairs]
        question = {"question": field["label"], "options": options, "multiSelect": field["kind"] == "choices"}
        if answer := _answer(question):
            values = {label: value for value, label in pairs}
            found[str(field["name"])] = (
                values.get(answer, answer) if isinstance(answer, str) else [values.get(each, each) for each in answer]
            )
    return found


def ask_permission(api: Api, event: PermissionRequest) -> None:
    """Show what the agent asks for and send what the person says; anything but yes is no."""
    grants = [str(grant) for grant in event.suggested_grants]
    about = json.dumps(event.input, ensure_ascii=False)[:_INPUT_WIDTH]
    sys.stdout.flush()
    print(f"\nThe agent asks to use {clean(event.tool_name)}: {clean(about)}", file=sys.stderr)
    print(clean(event.reason), file=sys.stderr)
    for number, grant in enumerate(grants, 1):
        print(clean(f"  {number}  yes, and for the rest of this conversation: {grant}"), file=sys.stderr)
    said = (ask(f"Yes{', a number,' if grants else ''} or no:") or "").lower()
    chosen = _choice(said, grants) if said.isdigit() else None
    allow = chosen in grants or said in ("y", "yes")
    try:
        path = f"/api/chat/{quoted(event.session_id)}/permissions/{quoted(event.request_id)}"
        api.post(path, {"allow": allow, "grant": chosen if chosen in grants else None})
    except ParachuteError as error:
        print_note(f"The answer did not arrive: {error.message}")


def _answer(question: dict[str, Any]) -> str | list[str]:
    options = [str(option["label"]) for option in question.get("options") or []]
    several = bool(question.get("multiSelect"))
    sys.stdout.flush()
    print(f"\n{clean(str(question['question']))}", file=sys.stderr)
    for number, option in enumerate(question.get("options") or [], 1):
        about = f": {option['description']}" if option.get("description") else ""
        print(clean(f"  {number}  {option['label']}{about}"), file=sys.stderr)
    line = ask("Numbers with commas between, or your own words:" if several else "A number, or your own words:") or ""
    if not several:
        return _choice(line, options)
    return [_choice(part.strip(), options) for part in line.split(",") if part.strip()]


def _choice(text: str, options: list[str]) -> str:
    return options[int(text) - 1] if text.isascii() and text.isdigit() and 1 <= int(text) <= len(options) else text
