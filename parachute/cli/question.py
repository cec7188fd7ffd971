"""A question of the agent, put to the person at the terminal."""

import sys
from typing import Any

from parachute.cli.api import Api, quoted
from parachute.cli.output import clean, print_note
from parachute.errors import ParachuteError


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


def _answer(question: dict[str, Any]) -> str | list[str]:
    options = [str(option["label"]) for option in question.get("options") or []]
    several = bool(question.get("multiSelect"))
    sys.stdout.flush()
    print(f"\n{clean(str(question['question']))}", file=sys.stderr)
    for number, option in enumerate(question.get("options") or [], 1):
        about = f": {option['description']}" if option.get("description") else ""
        print(clean(f"  {number}  {option['label']}{about}"), file=sys.stderr)
    print(
        "Numbers with commas between, or your own words: " if several else "A number, or your own words: ",
        end="",
        file=sys.stderr,
        flush=True,
    )
    line = sys.stdin.readline().strip()
    if not several:
        return _choice(line, options)
    return [_choice(part.strip(), options) for part in line.split(",") if part.strip()]


def _choice(text: str, options: list[str]) -> str:
    return options[int(text) - 1] if text.isascii() and text.isdigit() and 1 <= int(text) <= len(options) else text
