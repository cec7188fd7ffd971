"""`parachute ask`: one question to the model, without a conversation."""

import sys
from typing import Any

import typer

from parachute.base.errors import InvalidInput
from parachute.cli.api import Api
from parachute.cli.commands import JSON, group
from parachute.cli.output import clean, print_json, print_note

MAXIMUM_CHARACTERS = 200_000
"""The longest question that the API takes."""

_SECONDS = 330.0
"""Longer than the server itself waits for the model."""


def ask(
    words: list[str] = typer.Argument(
        None, metavar="[QUESTION]", help="The question; what is piped in is put below it."
    ),
    system: str | None = typer.Option(None, "--system", help="The system prompt."),
    model: str | None = typer.Option(
        None, "--model", "-m", help="A model, such as home/qwen3; without it the usual one."
    ),
    max_tokens: int = typer.Option(1024, "--max-tokens", min=1, max=4096, help="How long the answer may be."),
    as_json: bool = JSON,
) -> None:
    """Ask the model once: it has no tools, and nothing is kept. For a conversation there is `parachute chat`."""
    body: dict[str, Any] = {"prompt": _prompt(words or []), "max_tokens": max_tokens}
    if system is not None:
        body["system"] = system
    if model is not None:
        body["model"] = model
    answer = Api.find().post("/api/ask", body, _SECONDS)
    if as_json:
        print_json(answer)
        return
    print(clean(answer["text"]))
    if answer["stop_reason"] == "max_tokens":
        print_note(f"The answer was cut after {max_tokens} tokens; --max-tokens allows more.")


def _prompt(words: list[str]) -> str:
    """The question and what is piped in; errors: InvalidInput."""
    parts = [" ".join(words)]
    if not sys.stdin.isatty():
        parts.append(sys.stdin.read(MAXIMUM_CHARACTERS + 1))
    prompt = "\n\n".join(part.strip() for part in parts if part.strip())
    if not prompt:
        raise InvalidInput(
            "The question is empty.", "Write it behind `parachute ask`, or pipe it in.", key="question_empty"
        )
    if len(prompt) > MAXIMUM_CHARACTERS:
        raise InvalidInput(
            f"The question has more than {MAXIMUM_CHARACTERS:,} characters.",
            "Ask with less text.",
            key="question_too_long",
        )
    return prompt


app = group(ask)
