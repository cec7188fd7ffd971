"""`parachute files`: the files of the vault, as other devices reach them."""

import http.client
import shutil
import sys
from pathlib import Path, PurePosixPath
from typing import Any

import typer

from parachute.base.errors import Conflict, InvalidInput, Unavailable
from parachute.base.folders import Folder
from parachute.cli.api import Api, quoted
from parachute.cli.changed_files import print_undone
from parachute.cli.commands import JSON, group
from parachute.cli.output import (
    ago,
    by_meaning,
    clean,
    local,
    print_answer,
    print_json,
    print_note,
    print_rows,
    print_table,
    size,
)
from parachute.cli.read_files import not_read, place
from parachute.cli.searched import print_nothing

_PATH = typer.Argument(metavar="PATH", help="Path in the vault, such as Notes/garden.md.")
_IF_MATCH = typer.Option(
    "", "--if-match", metavar="ETAG", help="Only if the file still has this ETag, from `files show --json`."
)
_NEW = typer.Option(False, "--new", help="Only if the file does not exist yet.")
_PARTS = {"directory": "folder", "symlink": "link", "file": ""}
_SHOWN = 20


def list_(
    path: str = typer.Argument("", metavar="[PATH]", help="Folder in the vault; without it, the vault itself."),
    hidden: bool = typer.Option(False, "--hidden", help="Hidden files and folders, too; they cannot be opened here."),
    as_json: bool = JSON,
) -> None:
    """List a folder of the vault."""
    found = Api.find().get("/api/ls", path=path, includeHidden=hidden)
    print_rows(
        found,
        as_json,
        ["Name", "Kind", "Size", "Changed"],
        lambda each: (
            each["name"],
            _PARTS[each["type"]],
            "" if each["size"] is None else size(each["size"]),
            local(each["lastModified"]),
        ),
        "The folder is empty.",
        of="entries",
    )
    if found["truncated"] and not as_json:
        print_note(f"The folder has {found['total']:,} entries; these are the first.")


def search(
    words: list[str] = typer.Argument(metavar="WORDS", help="Words to look for."),
    limit: int = typer.Option(_SHOWN, "--limit", min=1, max=100, help="At most so many."),
    as_json: bool = JSON,
) -> None:
    """Find texts and documents of the vault by words, and by meaning where words find little."""
    found = Api.find().get("/api/files/search", q=" ".join(words), limit=limit)
    if as_json:
        print_json(found)
        return
    if found["problem"]:
        print_note(found["problem"])
    if found["results"]:
        print_table(
            ["File", "Changed", "Text"],
            [
                (f"{each['path']}{place(each)}{by_meaning(each)}", local(each["lastModified"]), each["snippet"][:80])
                for each in found["results"]
            ],
        )
    else:
        print_nothing(" ".join(words), "files", found.get("searched"))
    for sentence in not_read(found["not_read"]):
        print_note(sentence)


def show(path: str = _PATH, as_json: bool = JSON) -> None:
    """Print a text file."""
    found = Api.find().get("/api/read", path=path)
    print_answer(found, as_json, lambda _: print(clean(found["content"]), end=""))


def write(
    path: str = _PATH,
    text: str = typer.Option(None, "--text", help="What to write; without it, what comes from standard input."),
    if_match: str = _IF_MATCH,
    new: bool = _NEW,
    as_json: bool = JSON,
) -> None:
    """Write a text file, in place of the one that is there; that one is kept."""
    if text is None:
        try:
            text = sys.stdin.buffer.read().decode()
        except UnicodeDecodeError as error:
            raise InvalidInput(
                "The answer is not UTF-8 text.", "Use `parachute files upload`.", key="not_text"
            ) from error
    said = Api.find().put("/api/write", {"path": path, "content": text}, _conditions(if_match, new))
    _print_written(said, as_json)


def download(
    path: str = _PATH,
    to: str = typer.Argument("", metavar="[TO]", help="File or folder of this computer, or - for standard output."),
    as_json: bool = JSON,
) -> None:
    """Copy a file of the vault to somewhere else."""
    target = _target(path, to)
    with Api.find().stream("GET", f"/api/files/download?path={quoted(path)}") as answer:
        try:
            if target is None:
                shutil.copyfileobj(answer, sys.stdout.buffer)
                sys.stdout.flush()
                return
            with Folder.open(target.parent) as folder, folder.replacement(target.name) as new:
                while piece := answer.read(256 * 1024):
                    new.write(piece)
                if not new.commit(None):
                    raise _is_there(target)
        except (http.client.HTTPException, ConnectionError, TimeoutError) as error:
            raise Unavailable("The file broke off.", "Try again.", key="download_broke_off") from error
    print_answer({"path": path, "to": str(target)}, as_json, f"{path} is in {target}.")


def upload(
    file: Path = typer.Argument(metavar="FILE", help="File of this computer."),
    path: str = typer.Argument(metavar="PATH", help="Path in the vault; one that ends with / is a folder."),
    if_match: str = _IF_MATCH,
    new: bool = _NEW,
    as_json: bool = JSON,
) -> None:
    """Copy a file of any kind and size into the vault, in place of the one that is there; that one is kept."""
    try:
        content = file.open("rb")
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}.", key="file_unreadable") from error
    with content:
        if not file.is_file():
            raise InvalidInput(f"{file} is no regular file.", key="not_a_file")
        if path.endswith("/"):
            path += file.name
        place = f"/api/files/upload?path={quoted(path)}"
        said = Api.find().upload("PUT", place, content, file.stat().st_size, _conditions(if_match, new))
    _print_written(said, as_json)


def make_folder(path: str = _PATH, as_json: bool = JSON) -> None:
    """Make a folder, and those above it."""
    said = Api.find().post("/api/files/folders", {"path": path})
    print_answer(said, as_json, f"{path} is there.")


def move(
    path: str = _PATH,
    to: str = typer.Argument(metavar="TO", help="Its new path in the vault, where nothing is."),
    as_json: bool = JSON,
) -> None:
    """Move or rename a file or a folder."""
    said = Api.find().post("/api/files/move", {"path": path, "to": to}, 600)
    print_answer(said, as_json, f"{path} is {to} now. {_undo(said)}")


def delete(path: str = _PATH, as_json: bool = JSON) -> None:
    """Delete a file, or a folder with all that is in it; it is kept, so that you can take that back."""
    said = Api.find().delete(f"/api/files?path={quoted(path)}")
    print_answer(said, as_json, f"{path} is deleted. {_undo(said)}")


def changes(
    path: str = typer.Argument("", metavar="[PATH]", help="Only changes of this file or folder."),
    as_json: bool = JSON,
) -> None:
    """List what was changed here, the newest last; each can be taken back."""
    found = Api.find().get("/api/files/changes", path=path)
    if as_json:
        print_json(found)
        return
    if not found["changes"]:
        print_note("Nothing was changed here.")
    for each in reversed(found["changes"]):
        print(clean("\n".join(_lines(each))))


def undo(
    change: int = typer.Argument(None, metavar="[CHANGE]", help="Number of a change, or of an undo; else the last."),
    as_json: bool = JSON,
) -> None:
    """Take a change back."""
    said = Api.find().post("/api/files/undo", {"change": change}, 600)
    print_undone(said, "change", "files undo", as_json)


app = group(list_, search, show, write, download, upload, make_folder, move, delete, changes, undo)


def _conditions(if_match: str, new: bool) -> dict[str, str]:
    found = {"If-Match": if_match if if_match == "*" or if_match[:1] == '"' else f'"{if_match}"'} if if_match else {}
    return found | ({"If-None-Match": "*"} if new else {})


def _print_written(said: dict[str, Any], as_json: bool) -> None:
    done = f"{said['path']}: {size(said['size'])}."
    print_answer(said, as_json, f"{done} {_undo(said)}" if said["change"] else f"{done} It was so already.")


def _undo(said: dict[str, Any]) -> str:
    return f"`parachute files undo {said['change']}` takes that back."


def _target(path: str, to: str) -> Path | None:
    """The file to make, None for standard output; error: Conflict if it is there."""
    if to == "-":
        return None
    target = Path(to) if to else Path()
    if target.is_dir():
        target = target / PurePosixPath(path).name
    if not target.parent.is_dir():
        raise InvalidInput(f"There is no folder {target.parent}.", key="no_such_folder")
    if target.exists():
        raise _is_there(target)
    return target


def _is_there(target: Path) -> Conflict:
    return Conflict(f"{target} already exists.", "Name another place.", key="already_there")


def _lines(each: dict[str, Any]) -> list[str]:
    word = "" if each["kind"] == "change" else f"  {each['kind']} of {each['of']}"
    lines = [f"{each['change']}  {ago(each['at'])}{word}"]
    for file in each["files"][:_SHOWN]:
        lines.append(f"    {file['change']:<8} {file['path']}{'  (undone)' if file['undone'] else ''}")
    left = each["total"] - min(len(each["files"]), _SHOWN)
    return [*lines, *([f"    … {left} more; `--json` shows them"] if left else [])]
