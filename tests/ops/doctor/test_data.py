"""Checks of the vault, its databases and its modules, in states that really are broken."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.base.known_files import KnownFiles
from parachute.modules.registry.requirements import interpreter_tag
from parachute.modules.registry.service import Modules
from parachute.modules.trees.models import Limits
from parachute.ops.backup.state import CREATE, DRILL, FAILED, OK, record
from tests.modules.registry.building import write_module
from tests.modules.registry.steps import install

from .machine import Machine, unchanged
from .test_services import status

pytestmark = pytest.mark.long


def database(path: Path, rows: int = 2000, journal: str = "WAL") -> Path:
    """A database of several pages, at rest."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode={journal}")
        connection.execute("CREATE TABLE entries (id INTEGER PRIMARY KEY, text TEXT)")
        connection.execute("CREATE INDEX by_text ON entries (text)")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO entries (text) VALUES (?)", [(f"entry {n:06}",) for n in range(rows)])
        connection.execute("COMMIT")
    return path


def overwrite(path: Path, position: int, data: bytes) -> None:
    """Change bytes as a failing disk does."""
    with path.open("r+b") as file:
        file.seek(position)
        file.write(data)


def test_a_vault_that_is_there_is_fine(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.well("vault")
    assert machine.results == snapshot


def test_a_vault_that_was_never_made_is_fine(machine: Machine, snapshot: SnapshotAssertion) -> None:
    shutil.rmtree(machine.vault)
    machine.well("vault")
    assert machine.results == snapshot


@pytest.mark.parametrize("what", ["gone", "a file", "empty"])
def test_a_vault_that_is_not_what_it_was_is_noticed(machine: Machine, what: str) -> None:
    KnownFiles(machine.home.root).add([machine.vault / ".parachute" / "sessions.db"])
    shutil.rmtree(machine.vault)
    if what == "a file":
        machine.vault.touch()
    if what == "empty":
        machine.vault.mkdir()
    machine.accuses("vault")


def test_a_vault_of_somebody_else_is_noticed(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.accuses("vault", uid=os.getuid() + 1)
    assert machine.results == snapshot


def test_databases_that_are_whole_are_fine_and_nothing_is_written_beside_them(
    machine: Machine, snapshot: SnapshotAssertion
) -> None:
    database(machine.vault / ".parachute" / "sessions.db")
    database(machine.home.trust_database)
    database(machine.home.root / "module-data" / "daily" / "storage.db", journal="DELETE")
    with unchanged(machine.vault, machine.home.root):
        machine.well("databases")
    assert machine.results == snapshot


def test_no_database_is_fine(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.well("databases")
    assert machine.results == snapshot


@pytest.mark.parametrize(
    "name",
    [
        "vault/.parachute/sessions.db",
        "vault/.parachute/copies/sessions-0001.db",
        "home/trust.db",
        "home/module-data/daily/a.db",
    ],
)
def test_a_damaged_database_is_named(machine: Machine, name: str) -> None:
    place, _, rest = name.partition("/")
    path = database({"vault": machine.vault, "home": machine.home.root}[place] / rest)
    database(machine.vault / ".parachute" / "runs.db")
    overwrite(path, 4096 * 3, b"\xff" * 4096)
    found = machine.accuses("databases")
    assert found.message.startswith("1 of 2 databases cannot be read: ")
    assert found.details[0].startswith(f"{path}: ")


@pytest.mark.parametrize(
    "damage", [lambda path: overwrite(path, 0, b"no database, this"), lambda path: os.truncate(path, 5000)]
)
def test_a_file_that_is_no_database_any_more_is_named(
    machine: Machine, damage: object, snapshot: SnapshotAssertion
) -> None:
    path = database(machine.home.trust_database)
    assert callable(damage)
    damage(path)
    machine.accuses("databases")
    assert machine.results == snapshot


def test_an_index_that_does_not_fit_its_rows_is_noticed(machine: Machine) -> None:
    path = database(machine.home.trust_database)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute("DELETE FROM sqlite_schema WHERE name='by_text'")
        connection.execute("PRAGMA writable_schema=RESET")
        connection.execute("DELETE FROM entries WHERE id=7")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        (root,) = connection.execute("SELECT max(rootpage) + 1 FROM sqlite_schema").fetchone()
        statement = "CREATE INDEX by_text ON entries (text)"
        connection.execute("INSERT INTO sqlite_schema VALUES ('index', 'by_text', 'entries', ?, ?)", (root, statement))
    machine.accuses("databases")


def test_a_database_that_is_being_written_is_whole(machine: Machine, snapshot: SnapshotAssertion) -> None:
    path = database(machine.vault / ".parachute" / "sessions.db")
    program = (
        "import sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('PRAGMA wal_autocheckpoint=0')\n"
        "c.execute(\"INSERT INTO entries (text) VALUES ('committed, and not in the file itself')\")\n"
        "c.execute('BEGIN IMMEDIATE')\n"
        "c.execute(\"UPDATE entries SET text = 'half done'\")\n"
        "print('writing', flush=True)\n"
        "sys.stdin.readline()\n"
        "c.execute('COMMIT')\n"
        "print(c.execute('PRAGMA integrity_check').fetchone()[0], flush=True)\n"
    )
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writing\n"
        for _ in range(3):
            machine.well("databases")
        writer.stdin.write("\n")
        writer.stdin.flush()
        assert writer.stdout.readline() == "ok\n"
    assert machine.results == snapshot


def test_a_database_that_another_program_holds_is_not_called_damaged(
    machine: Machine, snapshot: SnapshotAssertion
) -> None:
    path = database(machine.home.root / "module-data" / "daily" / "a.db", journal="DELETE")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        machine.warns("databases", supervisor=status())
    assert machine.results == snapshot


def test_what_a_killed_program_had_written_is_read_with_the_rest(machine: Machine) -> None:
    path = database(machine.home.trust_database)
    program = (
        "import os, sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute(\"UPDATE entries SET text = 'new'\")\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert path.with_name("trust.db-wal").stat().st_size > 0
    machine.well("databases")
    overwrite(path, 4096 * 1, b"\xff" * 4096)
    path.with_name("trust.db-wal").unlink()
    machine.accuses("databases")


def test_what_a_killed_program_had_half_done_is_not_called_damaged(
    machine: Machine, snapshot: SnapshotAssertion
) -> None:
    path = database(machine.home.root / "module-data" / "daily" / "a.db", journal="DELETE")
    program = (
        "import os, sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1])\n"
        "c.execute('PRAGMA cache_size=2')\n"
        "c.execute(\"UPDATE entries SET text = 'half done, and longer than before: ' || text\")\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert path.with_name("a.db-journal").stat().st_size > 0
    with unchanged(machine.home.root):
        machine.warns("databases")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("SELECT count(*) FROM entries").fetchone()
    machine.well("databases")
    assert machine.results == snapshot


@pytest.mark.parametrize("place", ["vault/.parachute/copies", "home/module-data/daily"])
def test_folders_with_databases_that_cannot_be_read_are_named(machine: Machine, place: str) -> None:
    database(machine.vault / ".parachute" / "sessions.db")
    top, _, rest = place.partition("/")
    closed = {"vault": machine.vault, "home": machine.home.root}[top] / rest
    database(closed / "a.db")
    closed.chmod(0)
    # Also for root, who could read everything otherwise.
    held = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    variables = {"PARACHUTE_HOME": str(machine.home.root), "PARACHUTE_VAULT": str(machine.vault)}
    done = subprocess.run(
        [*held, sys.executable, "-m", "parachute.cli", "doctor", "databases", "--json"],
        env={**machine.computer().environment, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    closed.chmod(0o700)
    (found,) = json.loads(done.stdout)["checks"]
    assert found["result"] == "warning", found
    assert found["message"] == f"Not every folder with databases can be read: {closed}: Permission denied."


def test_links_to_databases_are_not_followed(machine: Machine) -> None:
    elsewhere = database(machine.folder / "elsewhere.db")
    overwrite(elsewhere, 0, b"no database, this")
    (machine.vault / ".parachute" / "link.db").symlink_to(elsewhere)
    machine.well("databases")


def test_a_vault_that_nobody_synchronises_is_fine(machine: Machine) -> None:
    machine.well("sync-folder")


@pytest.mark.parametrize(
    ("folder", "mark", "program"),
    [
        ("Dropbox", "", "Dropbox"),
        ("Dropbox (Personal)/deep", "", "Dropbox"),
        ("OneDrive - Firm", "", "OneDrive"),
        ("Library/Mobile Documents/com~apple~CloudDocs", "", "iCloud"),
        ("Nextcloud/Notes", "", "Nextcloud"),
        ("cloud", ".sync_1f2e3d.db", "Nextcloud"),
        ("shared", ".stfolder/", "Syncthing"),
        ("moved", ".dropbox.cache/", "Dropbox"),
        ("resilio", ".sync/ID", "Resilio Sync"),
    ],
)
@pytest.mark.parametrize("what", ["vault", "home"])
def test_a_synchronised_folder_is_noticed(
    machine: Machine, folder: str, mark: str, program: str, what: str, snapshot: SnapshotAssertion
) -> None:
    place = machine.folder / folder
    place.mkdir(parents=True)
    if mark:
        path = machine.folder / folder.partition("/")[0] / mark
        path.parent.mkdir(exist_ok=True)
        path.mkdir() if mark.endswith("/") else path.touch()
    if what == "vault":
        machine.vault = place / "Parachute"
        machine.vault.mkdir()
        found = machine.accuses("sync-folder")
    else:
        inside = place / "p"
        inside.mkdir()
        found = machine.accuses("sync-folder", home=type(machine.home)(inside))
    assert found.message.startswith(program)
    assert machine.results == snapshot


def test_a_link_does_not_hide_where_the_vault_is(machine: Machine) -> None:
    real = machine.folder / "Dropbox" / "Parachute"
    real.mkdir(parents=True)
    machine.vault.rename(machine.folder / "before")
    machine.vault.symlink_to(real)
    machine.accuses("sync-folder")


@pytest.mark.parametrize(
    ("line", "is_well"),
    [(".parachute", True), ("(?d).parachute/", True), ("/Parachute/.parachute", True), ("*.tmp", False)],
)
def test_syncthing_may_leave_the_databases_out(
    machine: Machine, line: str, is_well: bool, snapshot: SnapshotAssertion
) -> None:
    (machine.folder / ".stfolder").mkdir()
    (machine.folder / ".stignore").write_text(f"// mine\n{line}\n")
    # The state directory lies elsewhere.
    home = type(machine.home)(Path("/nowhere/p"))
    if is_well:
        machine.well("sync-folder", home=home)
    else:
        machine.accuses("sync-folder", home=home)
    assert machine.results == snapshot


def set_backup_up(machine: Machine, repository: str) -> None:
    """A place for backups, and the program that makes them."""
    machine.settings["backup"] = {"repository": repository}
    machine.program("restic", "exit 0")


def test_a_computer_without_backups_is_warned(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.warns("backup")
    assert machine.results == snapshot


def test_a_backup_that_went_well_is_fine(machine: Machine, snapshot: SnapshotAssertion) -> None:
    set_backup_up(machine, "sftp:me@host:/backup")
    machine.warns("backup")
    record(machine.home.root, CREATE, OK)
    with unchanged(machine.home.root):
        machine.well("backup")
    machine.settings["backup"] = {"repository": "rest:https://me:word@host/"}
    assert "word" not in machine.well("backup")
    assert machine.results == snapshot


def test_a_kit_that_nobody_has_tried_is_a_warning_of_which_the_owner_hears(
    machine: Machine, snapshot: SnapshotAssertion
) -> None:
    set_backup_up(machine, "sftp:me@host:/backup")
    record(machine.home.root, CREATE, OK, backup="ab12cd34")
    assert machine.warns("backup").is_urgent
    record(machine.home.root, DRILL, FAILED, "The password is wrong.")
    machine.accuses("backup")
    assert machine.results == snapshot


@pytest.mark.parametrize("operation", [CREATE, DRILL])
def test_a_backup_that_failed_is_a_problem(machine: Machine, operation: str, snapshot: SnapshotAssertion) -> None:
    set_backup_up(machine, "sftp:me@host:/backup")
    record(machine.home.root, CREATE, OK)
    record(machine.home.root, operation, FAILED, "The password is wrong.")
    machine.accuses("backup")
    assert machine.results == snapshot


def test_an_old_backup_is_noticed(machine: Machine) -> None:
    set_backup_up(machine, "sftp:me@host:/backup")
    record(machine.home.root, CREATE, OK)
    path = machine.home.root / "backup" / "state.json"
    path.write_text(re.sub(r"\d{4}-(?=\d\d-)", "2025-", path.read_text()))
    assert "is of 2025-" in machine.warns("backup").message


def test_a_backup_beside_the_vault_is_noticed(machine: Machine, snapshot: SnapshotAssertion) -> None:
    (machine.folder / "backup").mkdir()
    set_backup_up(machine, str(machine.folder / "backup"))
    record(machine.home.root, CREATE, OK)
    machine.warns("backup")
    assert machine.results == snapshot


def test_without_restic_no_backup_is_made(machine: Machine, snapshot: SnapshotAssertion) -> None:
    set_backup_up(machine, "sftp:me@host:/backup")
    (machine.programs / "restic").unlink()
    machine.without_programs()
    machine.accuses("backup")
    assert machine.results == snapshot


@pytest.fixture
def modules(machine: Machine) -> Modules:
    """The modules of the machine, with `hello` installed."""
    found = Modules(machine.home, machine.vault, Limits(wait_seconds=0))
    install(found, write_module(machine.folder / "source"))
    return found


def test_modules_that_are_what_was_approved_are_fine(
    machine: Machine, modules: Modules, snapshot: SnapshotAssertion
) -> None:
    machine.well("modules")
    machine.well("module-packages")
    assert machine.results == snapshot


def test_no_modules_are_fine(machine: Machine, snapshot: SnapshotAssertion) -> None:
    with unchanged(machine.home.root, machine.vault):
        machine.well("modules")
        machine.well("module-packages")
    assert machine.results == snapshot


def test_a_changed_module_waits(machine: Machine, modules: Modules, snapshot: SnapshotAssertion) -> None:
    (modules.places.source("hello") / "module.py").write_text("changed = True\n")
    with unchanged(machine.home.root, machine.vault):
        machine.warns("modules")
    modules.disable("hello")
    machine.well("modules")
    assert machine.results == snapshot


def test_a_module_whose_folder_is_gone_is_noticed(
    machine: Machine, modules: Modules, snapshot: SnapshotAssertion
) -> None:
    shutil.rmtree(modules.places.source("hello"))
    machine.warns("modules")
    assert machine.results == snapshot


@pytest.mark.parametrize("damage", ["changed", "gone"])
def test_a_damaged_copy_is_a_problem(
    machine: Machine, modules: Modules, damage: str, snapshot: SnapshotAssertion
) -> None:
    copy = modules.places.copy("hello", modules.registry.module("hello").digest)
    if damage == "gone":
        shutil.rmtree(copy)
    else:
        code = copy / "code" / "module.py"
        code.chmod(0o644)
        code.write_text("changed = True\n")
    machine.accuses("modules")
    assert machine.results == snapshot


def test_a_list_of_modules_that_cannot_be_read_is_told(
    machine: Machine, modules: Modules, snapshot: SnapshotAssertion
) -> None:
    registry = modules.places.registry
    registry.write_text(registry.read_text().removesuffix("...\n"))
    for check in ("modules", "module-packages"):
        result = machine.look(check)
        assert result.level == "problem"
    assert machine.results == snapshot


def test_packages_of_another_python_are_noticed(
    machine: Machine, modules: Modules, snapshot: SnapshotAssertion
) -> None:
    lock = modules.places.copy("hello", modules.registry.module("hello").digest) / "lock.txt"
    text = lock.read_text()
    assert interpreter_tag() in text
    lock.chmod(0o644)
    lock.write_text(text.replace(interpreter_tag(), "cpython-39-of-nix-store"))
    machine.warns("module-packages")
    lock.write_text("neither\n")
    machine.accuses("module-packages")
    assert machine.results == snapshot


def test_hooks_in_a_file_that_is_cut_in_half_do_not_run(machine: Machine) -> None:
    file = machine.home.root / "hooks.yaml"
    file.write_text("hooks:\n  session.end:\n    - command: echo one\n")
    assert machine.well("hooks")
    file.write_text("hooks:\n  session.end:\n    - comm")
    found = machine.accuses("hooks")
    assert [str(file) in problem for problem in found.details] == [True]
