"""`parachute voice`: recordings that become text."""

import time
from pathlib import Path
from typing import Any

import typer

from parachute.base.errors import InvalidInput
from parachute.cli.api import Api, quoted
from parachute.cli.commands import JSON, group
from parachute.cli.output import (
    ago,
    clean,
    duration,
    print_answer,
    print_error,
    print_facts,
    print_json,
    print_note,
    print_rows,
)

_ID = typer.Argument(metavar="ID", help="Id of a transcription, as `parachute voice list` shows it.")
_LOOK_SECONDS = 0.5
_QUIET_SECONDS = 5.0
_OVER = ("done", "failed", "cancelled")
_WORDS = {"model": "the model in {}, on this machine", "server": "the server {}", "none": "nothing"}


def check(as_json: bool = JSON) -> None:
    """Show what turns recordings into text, what is missing for it, and what to do."""
    found = Api.find().get("/api/voice")
    if as_json:
        print_json(found)
    else:
        print_facts(
            [
                ("Transcribes", clean(_WORDS[found["kind"]].format(found["where"]))),
                ("Model", clean(found["model"] or "unknown")),
                ("Waiting", str(found["open"])),
            ]
        )
        if problem := found["problem"]:
            print_error(problem["message"], problem["hint"])
        else:
            print("Nothing is missing. `parachute voice transcribe FILE` tries it.")
    if not found["ready"]:
        raise typer.Exit(1)


def transcribe(
    file: str = typer.Argument(metavar="FILE", help="Recording in the vault, or its path from the vault on."),
    language: str = typer.Option("", "--language", help="The language that is spoken, such as de."),
    as_json: bool = JSON,
) -> None:
    """Print what is said in a recording of the vault."""
    api = Api.find()
    body = {"path": _in_vault(api, file), "language": language or None}
    job = api.post("/api/voice/transcriptions", body)
    shown = time.monotonic()
    # One that could not be done now is tried again by itself; nobody has to sit here for that.
    while job["state"] not in _OVER and not (job["state"] == "waiting" and job["error"]):
        time.sleep(_LOOK_SECONDS)
        job = api.get(f"/api/voice/transcriptions/{quoted(job['id'])}")
        if time.monotonic() > shown + _QUIET_SECONDS:
            shown = time.monotonic()
            print_note(_progress(job))
    if as_json:
        print_json(job)
    elif job["state"] == "done":
        print(clean(job["text"]))
    if job["state"] != "done":
        error = job["error"] or {"message": "It was cancelled.", "hint": None}
        if not as_json:
            print_error(error["message"], error["hint"])
            if job["state"] == "waiting":
                print_note(f"It is tried again; `parachute voice show {job['id']}` has the text then.")
        raise typer.Exit(1)


def list_(as_json: bool = JSON) -> None:
    """List the last transcriptions, the newest first."""
    print_rows(
        Api.find().get("/api/voice/transcriptions")["transcriptions"],
        as_json,
        ["Transcription", "Asked", "State", "Length", "Language", "Recording"],
        lambda each: (
            each["id"],
            ago(each["created_at"]),
            each["state"],
            duration(each["seconds"]) if each["seconds"] else "",
            each["language"] or "",
            each["path"],
        ),
        "No recording was transcribed yet.",
    )


def show(identifier: str = _ID, as_json: bool = JSON) -> None:
    """Print a transcription: its text, or how far it is."""
    job = Api.find().get(f"/api/voice/transcriptions/{quoted(identifier)}")
    if as_json:
        print_json(job)
        return
    if job["text"] is not None:
        print(clean(job["text"]))
    elif job["error"]:
        print_error(job["error"]["message"], job["error"]["hint"])
    else:
        print(_progress(job))


def retry(identifier: str = _ID, as_json: bool = JSON) -> None:
    """Try one that failed or was cancelled again, and one that waits at once."""
    job = Api.find().post(f"/api/voice/transcriptions/{quoted(identifier)}/retry")
    print_answer(job, as_json, f"It is tried again: `parachute voice show {job['id']}`.")


def cancel(identifier: str = _ID, as_json: bool = JSON) -> None:
    """Take a recording out of the queue; the recording itself stays."""
    job = Api.find().delete(f"/api/voice/transcriptions/{quoted(identifier)}")
    print_answer(job, as_json, "It is not transcribed.")


app = group(check, transcribe, list_, show, retry, cancel)


def _in_vault(api: Api, file: str) -> str:
    """The path within the vault of a file that is named as it is here, or as it is there."""
    path = Path(file).expanduser()
    if not path.exists():
        return file
    vault = Path(api.get("/api/status")["vault"]).resolve()
    try:
        return path.resolve().relative_to(vault).as_posix()
    except ValueError as error:
        raise InvalidInput(
            f"{path} is not in the vault.",
            f"`parachute files upload {path.name} Recordings/` copies it there: then transcribe Recordings/{path.name}.",
            key="not_in_vault",
        ) from error


def _progress(job: dict[str, Any]) -> str:
    done = "" if job["progress"] is None else f", {round(job['progress'] * 100)} %"
    reason = f": {job['error']['message']}" if job["error"] else ""
    return f"It is {job['state']}{done}{reason}"
