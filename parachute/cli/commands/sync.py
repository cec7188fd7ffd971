"""`parachute sync`: a folder of this device, kept the same as the vault of a computer."""

import hashlib
import os
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import typer
from msgspec import Struct, to_builtins

from parachute.base.errors import Conflict, InvalidInput, ParachuteError
from parachute.base.files import atomic_write, private_folder, read_regular
from parachute.base.single_instance import Taken, single_instance
from parachute.cli.asking import NOT_ANSWERED, agrees, can_ask, secret
from parachute.cli.commands import JSON, YES, group
from parachute.cli.following_sync import changes_of, follow
from parachute.cli.output import clean, counted, print_json, print_note
from parachute.cli.remote_vault import RemoteVault
from parachute.config.settings.home import Home
from parachute.files.device.planning import Step
from parachute.files.device.service import Device, Question, Report
from parachute.security.permissions.vault_files import is_hidden

_LIMIT = 64 * 1024
_SHOWN = 20
_WORDS = {
    "uploaded": "to the computer",
    "downloaded": "from the computer",
    "merged": "joined with the computer's",
    "deleted_here": "deleted here",
    "deleted_there": "deleted on the computer",
    "conflicts": "a conflict: the computer's stands here, the other version waits in its inbox",
}
_STEPS = {
    "upload": "to the computer",
    "download": "from the computer",
    "merge": "both have changed: to be joined",
    "delete_here": "to be deleted here",
    "delete_there": "to be deleted on the computer",
}


class _Place(Struct, frozen=True):
    """The computer that a folder belongs to."""

    folder: str
    url: str
    authority: str | None


def sync(
    directory: Path = typer.Argument(metavar="DIRECTORY", help="Folder of this device."),
    with_: str = typer.Option(
        "", "--with", metavar="ADDRESS", help="The computer, such as https://home.local:3333; needed the first time."
    ),
    key_file: Path = typer.Option(
        None, "--key-file", metavar="FILE", help="File with a key of the computer; without it you are asked once."
    ),
    certificate: Path = typer.Option(
        None, "--certificate", metavar="FILE", help="Certificate of the computer, if this device does not trust it yet."
    ),
    once: bool = typer.Option(False, "--once", help="End when both are the same, instead of following changes."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Say what would be done, and change nothing."),
    yes: bool = YES,
    as_json: bool = JSON,
) -> None:
    """Keep a folder of this device the same as the vault of your computer."""
    folder = _folder(directory)
    state = private_folder(Home.find().sync / hashlib.sha256(os.fsencode(folder)).hexdigest()[:16])
    place = _place(folder, state, with_, certificate)
    remote = RemoteVault(place.url, _key(state, key_file), Path(place.authority) if place.authority else None)
    try:
        with single_instance(state / "running"):
            device = Device(folder, state, remote, progress=_progress(as_json))
            try:
                if dry_run:
                    _print_plan(*device.plan(), as_json)
                elif once:
                    _once(device, yes=yes, as_json=as_json)
                else:
                    questions = _questions(yes=yes, as_json=as_json)
                    follow(
                        changes_of(folder),
                        device.has_news,
                        lambda: device.run(**questions),
                        lambda report, is_new: _print(report, as_json=as_json, always=is_new),
                    )
            finally:
                device.close()
    except sqlite3.Error as error:
        raise ParachuteError(
            f"What is remembered of {folder} cannot be read or written: {error}.",
            f"See whether the disk of {state} is full.",
            key="memory_unusable",
        ) from error
    except Taken as error:
        raise Conflict(
            f"{folder} is being synchronised already (process {error.process}).", key="already_running"
        ) from error


app = group(sync)


def _folder(directory: Path) -> Path:
    try:
        folder = directory.expanduser().resolve(strict=True)
    except OSError as error:
        raise InvalidInput(f"There is no folder {directory}.", "Make it first.", key="no_such_folder") from error
    if not folder.is_dir():
        raise InvalidInput(f"{directory} is no folder.", key="no_such_folder")
    homes = {Path.home().resolve(), Home.named().root.resolve()}
    is_ours = any((above / ".parachute").exists() for above in (folder, *folder.parents) if above not in homes)
    is_ours |= folder.is_relative_to(Home.named().root.resolve()) or any(map(is_hidden, folder.parts))
    if is_ours or any(home.is_relative_to(folder) for home in homes):
        raise InvalidInput(
            f"{directory} is in a vault or in a hidden folder, or holds the home of a user.",
            "Choose a folder that holds nothing else.",
            key="unsuitable_folder",
        )
    return folder


def _place(folder: Path, state: Path, url: str, certificate: Path | None) -> _Place:
    """The computer that was chosen before, or is now; error: Conflict for another one."""
    file = state / "computer.json"
    try:
        known = msgspec.json.decode(read_regular(file, _LIMIT), type=_Place)
    except FileNotFoundError:
        known = None
    if known is None and not url:
        raise InvalidInput(
            f"{folder} is not synchronised with a computer yet.", "Name it: --with https://…", key="no_computer"
        )
    if known is not None and url and url.rstrip("/") != known.url:
        raise Conflict(
            f"{folder} is synchronised with {known.url}.",
            f"For another computer take another folder. If {known.url} has another address now, edit {file}.",
            key="other_computer",
        )
    if known is not None and certificate is None:
        return known
    authority = None
    if certificate is not None:
        authority = state / "certificate.crt"
        atomic_write(authority, read_regular(certificate, _LIMIT))
    chosen = _Place(str(folder), known.url if known else url.rstrip("/"), str(authority) if authority else None)
    RemoteVault(chosen.url, "", authority)  # refuses what is no address before it is written down
    atomic_write(file, msgspec.json.encode(chosen))
    return chosen


def _key(state: Path, given: Path | None) -> str:
    file = state / "key"
    if given is None and file.exists():
        return read_regular(file, _LIMIT).decode().strip()
    if given is not None:
        key = read_regular(given.expanduser(), _LIMIT).decode(errors="replace").strip()
    elif can_ask():
        key = secret("Key of the computer")
    else:
        raise InvalidInput(
            "A key of the computer is needed.",
            "There: parachute keys create laptop --scope vault:write; here: --key-file FILE.",
            key="no_key",
        )
    if not key or not key.isascii() or not key.isprintable():
        raise InvalidInput("The key must be a single line.", key="invalid_key")
    atomic_write(file, f"{key}\n")
    return key


def _once(device: Device, *, yes: bool, as_json: bool) -> None:
    report = device.run(**_questions(yes=yes, as_json=as_json))
    _print(report, as_json=as_json, always=True)
    if report.withheld:
        raise typer.Exit(NOT_ANSWERED)


def _questions(*, yes: bool, as_json: bool) -> dict[str, Question]:
    def asking(question: str) -> Question:
        def may(count: int, of: int) -> bool:
            if yes or as_json or not can_ask():
                return yes
            return agrees(question.format(files=counted(count, "file"), of=of))

        return may

    return {
        "may_delete": asking("{files} of {of:,} would be deleted. Delete them?"),
        "may_join": asking("This vault has {files} of {of:,} as they were here: it is another one. Join both?"),
    }


def _progress(as_json: bool) -> Callable[[str, int, int], None]:
    last = 0.0

    def show(path: str, number: int, of: int) -> None:
        nonlocal last
        if as_json or not sys.stderr.isatty() or (time.monotonic() - last < 0.2 and number < of):
            return
        last = time.monotonic()
        text = "" if number == of else f"{number:,} of {of:,}  {clean(path)[-60:]}"
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    return show


def _print(report: Report, *, as_json: bool, always: bool) -> None:
    if not (report.has_done or always):
        return
    if as_json:
        print_json(to_builtins(report))
        return
    for field, words in _WORDS.items():
        _print_paths(getattr(report, field), words)
    if not report.has_done:
        print("Both are the same." if not report.withheld else "Nothing was done.")
    if report.withheld:
        print_note(f"{counted(report.withheld, 'file')} would be deleted, which is most of them. `--yes` agrees to it.")
    for path, reason in list(report.left.items())[:_SHOWN]:
        print_note(f"{clean(path)} is left alone: {clean(reason)}")
    if len(report.left) > _SHOWN:
        print_note(f"… {len(report.left) - _SHOWN:,} more are left alone; `--json` names them.")


def _print_plan(steps: list[Step], left: dict[str, str], as_json: bool) -> None:
    wanted = [step for step in steps if step.word != "agree"]
    if as_json:
        print_json({"steps": [{"path": step.path, "step": step.word} for step in wanted], "left": left})
        return
    for word, words in _STEPS.items():
        _print_paths([step.path for step in wanted if step.word == word], words)
    if not wanted:
        print("Both are the same.")


def _print_paths(paths: list[str], words: str) -> None:
    for path in paths[:_SHOWN]:
        print(f"{clean(path)}  {words}")
    if len(paths) > _SHOWN:
        print(f"… {len(paths) - _SHOWN:,} more  {words}")
