"""`parachute contexts`: the folders whose AGENTS.md or CLAUDE.md a conversation is told."""

import hashlib
from typing import Any

import typer

from parachute.base.errors import NotFound
from parachute.base.folders import Folder
from parachute.chat.contexts.models import LARGEST_FILE, NAMES
from parachute.cli.api import Api, quoted
from parachute.cli.commands import JSON, group
from parachute.cli.identifiers import whole_session
from parachute.cli.installation import settings
from parachute.cli.output import clean, counted, local, print_answer, print_json, print_note, print_rows
from parachute.config.settings.home import Home
from parachute.config.vault.service import Vault

_PATH = "/api/contexts"
_SESSION = typer.Argument(metavar="ID", help="Id of the conversation; its beginning is enough.")
_BY_AGENT = "changed by an agent"
_MODES = {"off": "It is off.", "propose": "It proposes.", "write": "It writes, and you can take it back."}


def list_(as_json: bool = JSON) -> None:
    """List the folders of the vault that have an AGENTS.md or CLAUDE.md."""
    found = Api.find().get(f"{_PATH}/folders")
    print_rows(
        found,
        as_json,
        ["Folder", "File", "Tokens", ""],
        lambda each: (each["path"] or "(the vault)", each["context_file"], f"{each['tokens']:,}", _note(each)),
        "No folder of the vault has an AGENTS.md.",
        of="folders",
    )
    if found["problem"] and not as_json:
        print_note(found["problem"])


def chain(
    folder: list[str] = typer.Argument(None, help="Folders of the vault, such as Projects/garden."),
    as_json: bool = JSON,
) -> None:
    """Show the files that come with folders: the vault's, those above, and theirs."""
    _print_chain(_chain(Api.find(), folder or []), as_json)


def show(session: str = _SESSION, as_json: bool = JSON) -> None:
    """Show the folders that were chosen for a conversation, and the files that come with them."""
    api = Api.find()
    chosen = api.get(f"{_PATH}/session/{whole_session(api, session)}")
    if as_json:
        print_json(chosen)
        return
    print(clean(f"Chosen: {', '.join(chosen['folder_paths']) or 'none'}"))
    _print_chain(_chain(api, chosen["folder_paths"]), as_json)


def set_(
    session: str = _SESSION,
    folder: list[str] = typer.Argument(None, help="Folders of the vault; none removes the choice."),
    as_json: bool = JSON,
) -> None:
    """Choose the folders that a conversation is told from its next message on."""
    api = Api.find()
    made = api.put(f"{_PATH}/session/{whole_session(api, session)}", {"folder_paths": folder or []})
    print_answer(made, as_json, f"Chosen: {', '.join(made['folder_paths']) or 'none'}")
    for problem in made["problems"] if not as_json else ():
        print_note(problem)


def seen(file: str = typer.Argument(help="A file, or its folder."), as_json: bool = JSON) -> None:
    """Show the words of a file that an agent has changed: they are marked as an agent's no more."""
    api, vault = Api.find(), Vault(settings(Home.find()).vault)
    path = vault.absolute(file)
    folder, names = (path.parent, (path.name,)) if path.name in NAMES else (path, NAMES)
    content = None
    for name in names:
        try:
            with Folder.open(folder) as top:
                content = top.read(name, LARGEST_FILE)
            break
        except OSError:
            continue
    if content is None:
        raise NotFound(
            f"There is no {' or '.join(names)} in {folder}.",
            "`parachute contexts list` shows them.",
            key="no_such_context",
        )
    if not as_json:
        print(clean(content.decode(errors="replace").rstrip()))
    answer = api.post(f"{_PATH}/seen", {"path": file, "hash": hashlib.sha256(content).hexdigest()})
    print_answer(answer, as_json, lambda _: print_note(f"You have seen {answer['path']}."))


def watches(
    file: str = typer.Argument("", help="A context file: only those that watch it."), as_json: bool = JSON
) -> None:
    """Show which contexts watch which others, as their front matter says."""
    found = Api.find().get(f"{_PATH}/watches?of={quoted(file)}")
    none = f"No context watches {file}." if file else "No context watches another: `watch:` in its front matter would."
    print_rows(
        found,
        as_json,
        ["File", "Watches", "Which means now"],
        lambda each: (each["watcher"], each["pattern"], each["problem"] or ", ".join(each["resolved"]) or "nothing"),
        none,
        of="watches",
    )
    if found["problem"] and not as_json:
        print_note(found["problem"])


def review(
    folder: str = typer.Argument("", help="A folder of the vault; without one the vault itself."), as_json: bool = JSON
) -> None:
    """Have the curator review the context of a folder now, against those that it watches."""
    queued = Api.find().post(f"{_PATH}/curator/review", {"folder": folder})
    print_answer(queued, as_json, f"{queued['watcher']} is reviewed next; `parachute contexts curator` shows it.")


def curator(
    count: int = typer.Option(5, "--limit", "-n", min=1, help="How many reviews to show."), as_json: bool = JSON
) -> None:
    """Show what waits for the curator, and its last reviews, the newest last."""
    found = Api.find().get(f"{_PATH}/curator")
    if as_json:
        print_json(found)
        return
    print_note(f"{_MODES[found['mode']]} {found['reviews_today']} of {found['reviews_per_day']} reviews today.")
    if found["waiting"] and found["held"]:
        print_note(found["held"])
    for each in found["waiting"]:
        state = "is being reviewed" if each["running"] else f"waits until {local(each['due_at'])}"
        error = f": {each['error']}" if each["error"] else ""
        print(clean(f"{each['watcher']}  {state}{error}"))
    for run in reversed(found["runs"][:count]):
        lines = [f"{local(run['started'])}  {run['status']}", *(f"  {line}" for line in run["log"])]
        print(clean("\n".join(lines)))


app = group(list_, chain, show, set_, seen, watches, review, curator)


def _chain(api: Api, folders: list[str]) -> Any:
    return api.get(f"{_PATH}/chain?folders={quoted(','.join(folders))}")


def _print_chain(found: Any, as_json: bool) -> None:
    print_rows(
        found,
        as_json,
        ["File", "Level", "Tokens", ""],
        lambda each: (each["path"], each["level"], f"{each['tokens']:,}", _note(each)),
        "No file comes with them.",
        of="files",
    )
    if found["files"] and not as_json:
        print_note(f"{counted(found['total_tokens'], 'token')}{', with some left out' if found['truncated'] else ''}.")


def _note(each: Any) -> str:
    unused = each.get("unused") or ("CLAUDE.md" if each.get("has_agents_md") and each.get("has_claude_md") else None)
    notes = [
        "does not exist" if each.get("exists") is False else "cannot be used" if each.get("problem") else "",
        "cut" if each.get("truncated") else "",
        _BY_AGENT if each["changed_by_agent"] else "",
        f"{unused} is not used" if unused else "",
    ]
    return ", ".join(filter(None, notes))
