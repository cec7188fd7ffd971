"""`parachute import`: conversations, journals and notes from elsewhere, and conversations with Claude Code that would be deleted."""

import http.client
import os
import time
from pathlib import Path
from typing import Any

import typer

from parachute.cli.api import Api, quoted
from parachute.cli.commands import JSON, group
from parachute.cli.event_stream import documents
from parachute.cli.output import (
    ago,
    clean,
    counted,
    local,
    print_answer,
    print_error,
    print_note,
    print_rows,
)
from parachute.cli.packing import packed

_DAYS = typer.Option(7, "--days", min=0, max=36_500, help="What is deleted within so many days.")
_KEEP_SECONDS = 3600.0
_QUIET_SECONDS = 5.0
"""Between two lines that tell how far an import is."""

_NOUNS = {
    "activities": "action",
    "agent_instructions": "instruction file",
    "archives_missing": "missing archive",
    "audio": "recording",
    "branches": "variant",
    "changed_entries": "changed entry",
    "days_full": "entry",
    "empty_entries": "empty entry",
    "entries_without_date": "entry without a date",
    "mails_too_large": "large mail",
    "media_damaged": "file",
    "media_missing": "file",
    "media_not_placed": "file",
    "contexts": "file",
    "files": "attached file",
    "files_of_others": "file",
    "images": "picture",
    "malformed": "malformed part",
    "too_many_files": "attached file",
    "too_long": "long part",
    "too_many_waiting": "suggestion",
    "unknown_content": "unknown part",
}
"""Nouns for what is left out, where they are other words than its key."""

_FILE = typer.Argument(
    ..., metavar="FILE", help="The export: an archive as it was downloaded, or a file or folder from it."
)
_ARCHIVE = typer.Argument(..., metavar="FILE", help="The archive, as `parachute export` wrote it.")
_CONTEXTS = typer.Option(
    False,
    "--contexts",
    help="Bring AGENTS.md, CLAUDE.md and memory.md, too, which agents obey: only from an archive of yours.",
)
_FOLDER = typer.Argument(..., metavar="FOLDER", help="The folder, or an archive of it.")
_ID = typer.Argument(..., metavar="ID", help="Id of an import, as `parachute import list` shows it.")
_DRY = typer.Option(False, "--dry-run", help="Only count what would be imported and left out.")
_ARCHIVED = typer.Option(False, "--archived", help="Put the conversations away at once: they can be searched.")


def chatgpt(path: Path = _FILE, dry_run: bool = _DRY, archived: bool = _ARCHIVED, as_json: bool = JSON) -> None:
    """Import the conversations of an export of ChatGPT."""
    bring("chatgpt", path, dry_run, archived, as_json)


def claude(path: Path = _FILE, dry_run: bool = _DRY, archived: bool = _ARCHIVED, as_json: bool = JSON) -> None:
    """Import the conversations of an export of Claude, and the documents of its projects."""
    bring("claude", path, dry_run, archived, as_json)


def gemini(path: Path = _FILE, dry_run: bool = _DRY, archived: bool = _ARCHIVED, as_json: bool = JSON) -> None:
    """Import what was said to Gemini, from Google Takeout: My Activity, of which Gemini Apps."""
    bring("gemini", path, dry_run, archived, as_json)


def librechat(path: Path = _FILE, dry_run: bool = _DRY, archived: bool = _ARCHIVED, as_json: bool = JSON) -> None:
    """Import conversations that LibreChat has exported as JSON, one file or a folder of them."""
    bring("librechat", path, dry_run, archived, as_json)


def lmstudio(path: Path = _FILE, dry_run: bool = _DRY, archived: bool = _ARCHIVED, as_json: bool = JSON) -> None:
    """Import the conversations of LM Studio: its folder `~/.lmstudio/conversations`, or one file of it."""
    bring("lmstudio", path, dry_run, archived, as_json)


def openwebui(path: Path = _FILE, dry_run: bool = _DRY, archived: bool = _ARCHIVED, as_json: bool = JSON) -> None:
    """Import the conversations of Open WebUI, as its "export all chats" writes them."""
    bring("openwebui", path, dry_run, archived, as_json)


def parachute(path: Path = _FOLDER, dry_run: bool = _DRY, archived: bool = _ARCHIVED, as_json: bool = JSON) -> None:
    """Import the conversations of an older Parachute: its vault, its database, or conversations kept as Markdown."""
    bring("parachute", path, dry_run, archived, as_json)


def obsidian(path: Path = _FOLDER, dry_run: bool = _DRY, as_json: bool = JSON) -> None:
    """Copy the notes in a folder of Obsidian into the vault, without its settings and plugins."""
    bring("obsidian", path, dry_run, False, as_json)


def brain(path: Path = _ARCHIVE, dry_run: bool = _DRY, contexts: bool = _CONTEXTS, as_json: bool = JSON) -> None:
    """Bring the archive of another computer's `parachute export` into this one; nothing here is written over."""
    bring("brain", path, dry_run, False, as_json, contexts=contexts)


def dayone(path: Path = _FILE, dry_run: bool = _DRY, as_json: bool = JSON) -> None:
    """Import the journals of Day One with their pictures, recordings and videos, as its JSON export has them."""
    bring("dayone", path, dry_run, False, as_json)


def applejournal(path: Path = _FILE, dry_run: bool = _DRY, as_json: bool = JSON) -> None:
    """Import the entries of Apple Journal with their pictures, recordings and videos."""
    bring("applejournal", path, dry_run, False, as_json)


def mail(path: Path = _FILE, dry_run: bool = _DRY, as_json: bool = JSON) -> None:
    """Import mails into the journal, at the day on which each was sent: a file of one, or an mbox of many."""
    bring("mail", path, dry_run, False, as_json)


def file(path: Path = _FILE, dry_run: bool = _DRY, archived: bool = _ARCHIVED, as_json: bool = JSON) -> None:
    """Import an export, whatever it is of, but for that of another Parachute Computer."""
    bring("auto", path, dry_run, archived, as_json)


def list_(as_json: bool = JSON) -> None:
    """List the imports."""
    print_rows(
        Api.find().get("/api/imports")["imports"],
        as_json,
        ["Import", "Began", "State", "Brought", "Of"],
        lambda each: (each["id"], ago(each["startedAt"]), *_became(each), each["name"]),
        "Nothing was imported.",
    )


def undo(identifier: str = _ID, as_json: bool = JSON) -> None:
    """Remove what an import brought; what you have gone on with, or changed, stays."""
    api = Api.find()
    done = _follow(api, api.post(f"/api/imports/{quoted(identifier)}/undo"))
    print_answer(done, as_json, "The import is undone, except for what you have continued or changed:")
    if not as_json:
        for each in done["kept"]:
            print(clean(f"  {each}"))
        if not done["kept"]:
            print("  nothing")
    _end(done, as_json)


def cancel(identifier: str = _ID, as_json: bool = JSON) -> None:
    """Stop an import that runs, or forget one that is over; what it has brought stays."""
    said = Api.find().delete(f"/api/imports/{quoted(identifier)}")
    print_answer(said, as_json, f"It is {said['state']}, and brought {_brought(said)}.")


def expiring(days: int = _DAYS, as_json: bool = JSON) -> None:
    """List the conversations that Claude Code deletes soon and that are not here."""
    found = Api.find().get(f"/api/claude-code/expiring?days={days}")
    after = found["cleanupPeriodDays"]
    print_rows(
        found["sessions"],
        as_json,
        ["Deleted", "Project", "Conversation"],
        lambda each: (local(each["endsAt"]), each["projectPath"] or "", each["title"] or each["firstMessage"] or ""),
        f"Claude Code deletes none within {counted(days, 'day')}; it keeps them for {counted(after, 'day')}."
        if after
        else "Claude Code deletes no conversation: its settings cannot be understood.",
    )


def keep(days: int = _DAYS, as_json: bool = JSON) -> None:
    """Copy all of these here, as chats to go on with; the originals stay as they are."""
    said = Api.find().post(f"/api/claude-code/keep?days={days}", {}, seconds=_KEEP_SECONDS)
    print_answer(said, as_json, f"{counted(len(said['kept']), 'conversation')} came here.")
    for each in said["failed"]:
        print_error(f"{each['sessionId']} was not copied: {each['reason']}")
    if said["failed"]:
        raise typer.Exit(1)


app = group(
    *(chatgpt, claude, gemini, librechat, lmstudio, openwebui, parachute, obsidian, brain),
    *(dayone, applejournal, mail, file),
    *(list_, undo, cancel, expiring, keep),
)


def bring(kind: str, path: Path, dry_run: bool, archived: bool, as_json: bool, *, contexts: bool = False) -> None:
    """Upload an export, and follow its import to the end."""
    api = Api.find()
    name = path.resolve().name.removesuffix(".zip") or "export"
    with packed(path, kind) as upload:
        size = upload.seek(0, os.SEEK_END)
        upload.seek(0)
        switches = "".join(f"&{word}=true" for word, is_on in _switches(dry_run, archived, contexts) if is_on)
        begun = api.upload("POST", f"/api/imports?kind={kind}&name={quoted(name)}{switches}", upload, size)
    done = _follow(api, begun)
    print_answer(done, as_json, _print)
    _end(done, as_json)


def _switches(dry_run: bool, archived: bool, contexts: bool) -> list[tuple[str, bool]]:
    return [("dry_run", dry_run), ("archived", archived), ("contexts", contexts)]


def _follow(api: Api, record: dict[str, Any]) -> dict[str, Any]:
    """Wait for the end of an import, and show how far it is; a lost connection only means looking again."""
    path = f"/api/imports/{quoted(record['id'])}"
    shown = time.monotonic()
    try:
        with api.stream("GET", f"{path}/events") as events:
            for record in documents(events):
                if record["state"] in ("running", "undoing") and time.monotonic() > shown + _QUIET_SECONDS:
                    shown = time.monotonic()
                    print_note(f"{round(record['progress'] * 100)} %, {_brought(record)}")
    except KeyboardInterrupt:
        print_note(f"The import goes on; `parachute import cancel {record['id']}` stops it.")
        raise
    except (OSError, http.client.HTTPException):
        pass
    found: dict[str, Any] = api.get(path)
    return found


def _print(done: dict[str, Any]) -> None:
    would = "would come" if done["dryRun"] else "came"
    parts = [("documents", "document"), ("attachments", "attached file"), ("media", "file")]
    held = [counted(done[name], noun) for name, noun in parts if done.get(name)]
    within = f" with {' and '.join(held)}" if held else ""
    span = f", from {done['oldest'][:10]} to {done['newest'][:10]}" if done["oldest"] else ""
    print(clean(f"{_brought(done)} {would}{within}{span}."))
    there = done["skipped"] + done["filesSkipped"] + done.get("entriesSkipped", 0)
    if there:
        print(f"{there} {'was' if there == 1 else 'were'} here already.")
    if grown := done.get("grown"):
        would = "would get" if done["dryRun"] else "got"
        print(f"{counted(grown, 'conversation')} from an earlier export {would} what was said since.")
    if beside := done.get("beside"):
        print(
            f"{counted(beside, 'conversation')} of these went on both there and here: what was said there stands in "
            f"{'a conversation' if beside == 1 else 'conversations'} of its own, and yours is as it was."
        )
    for each in done["leftOut"]:
        print(clean(f"  left out: {_left_out(each)}"))
    for path in done.get("conflicts", []):
        print(clean(f"  stays as it is here: {path}"))
    if not done["dryRun"] and (
        done["imported"] or done.get("grown") or done["filesImported"] or done.get("entriesImported")
    ):
        print_note(f"`parachute import undo {done['id']}` takes this back.")


def _left_out(each: dict[str, Any]) -> str:
    noun = _NOUNS.get(each["what"]) or each["what"].replace("_", " ").removesuffix("s")
    names = f": {', '.join(each['names'])}" if each.get("names") else ""
    return f"{counted(each['count'], noun)} ({each['why']}{names})"


def _became(record: dict[str, Any]) -> tuple[str, str]:
    """The state of an import, and what it has brought, which is nothing where it was only to count."""
    if record["dryRun"] and record["state"] == "done":
        return "dry run", f"nothing, but would bring {_brought(record)}"
    return record["state"], _brought(record)


def _brought(record: dict[str, Any]) -> str:
    entries = record.get("entriesImported", 0)
    is_bare = not (record["filesImported"] or entries or record.get("entries"))
    parts = [counted(record["imported"], "conversation")] if record["imported"] or is_bare else []
    parts += [counted(entries, "entry")] if entries or record.get("entries") else []
    parts += [counted(record["filesImported"], "file")] if record["filesImported"] else []
    parts += [counted(suggestions, "suggestion")] if (suggestions := record.get("suggestionsImported")) else []
    return " and ".join(parts)


def _end(done: dict[str, Any], as_json: bool) -> None:
    if not as_json:
        for sentence in done["errors"]:
            print_error(sentence)
    if done["errors"] or done["state"] not in ("done", "undone"):
        raise typer.Exit(1)
