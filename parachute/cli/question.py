"""Questions and permission requests of the agent, put to the person at the terminal."""

import json
import sys
from typing import Any

from parachute.cli.api import Api, quoted
from parachute.cli.output import clean, print_note
from parachute.errors import ParachuteError

_INPUT_WIDTH = 2000


def ask_user(api: Api, event: dict[str, Any]) -> None:
    """Show the questions of a `user_question` event, read the answers and send them; Ctrl-D leaves them empty."""
    answers: dict[str, str | list[str]] = {}
    for question in event.get("questions") or []:
        answers[str(question["question"])] = _answer(question)
    try:
        path = f"/api/chat/{quoted(str(event['sessionId']))}/answer"
        api.post(path, {"request_id": event["requestId"], "answers": answers})
    except ParachuteError as error:
        print_note(f"The answer did not arrive: {error.message}")


def ask_permission(api: Api, event: dict[str, Any]) -> None:
    """Show a `permission_request` event and send what the person says; anything but yes is no."""
    grants = [str(grant) for grant in event.get("suggestedGrants") or []]
    about = json.dumps(event.get("input"), ensure_ascii=False)[:_INPUT_WIDTH]
    sys.stdout.flush()
    print(f"\nThe agent asks to use {clean(str(event.get('toolName')))}: {clean(about)}", file=sys.stderr)
    print(clean(str(event.get("reason") or "")), file=sys.stderr)
    for number, grant in enumerate(grants, 1):
        print(clean(f"  {number}  yes, and for the rest of this conversation: {grant}"), file=sys.stderr)
    said = _line(f"Yes{', a number,' if grants else ''} or no: ").lower()
    chosen = _choice(said, grants) if said.isdigit() else None
    allow = chosen in grants or said in ("y", "yes")
    try:
        path = f"/api/chat/{quoted(str(event['sessionId']))}/permissions/{quoted(str(event['requestId']))}"
        api.post(path, {"allow": allow, "grant": chosen if chosen in grants else None})
    except ParachuteError as error:
        print_note(f"The answer did not arrive: {error.message}")


def ask_for_direct() -> bool:
    """Whether a conversation for which no sandbox works shall run with the user's own rights; anything but yes is no."""
    sys.stdout.flush()
    said = _line("Run this conversation directly, with your own rights? [y/N] ").lower()
    return said in ("y", "yes")


def _answer(question: dict[str, Any]) -> str | list[str]:
    options = [str(option["label"]) for option in question.get("options") or []]
    several = bool(question.get("multiSelect"))
    sys.stdout.flush()
    print(f"\n{clean(str(question['question']))}", file=sys.stderr)
    for number, option in enumerate(question.get("options") or [], 1):
        about = f": {option['description']}" if option.get("description") else ""
        print(clean(f"  {number}  {option['label']}{about}"), file=sys.stderr)
    line = _line("Numbers with commas between, or your own words: " if several else "A number, or your own words: ")
    if not several:
        return _choice(line, options)
    return [_choice(part.strip(), options) for part in line.split(",") if part.strip()]


def _line(prompt: str) -> str:
    print(prompt, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


def _choice(text: str, options: list[str]) -> str:
    return options[int(text) - 1] if text.isascii() and text.isdigit() and 1 <= int(text) <= len(options) else text
