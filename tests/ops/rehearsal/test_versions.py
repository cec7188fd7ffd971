"""Whole rehearsals, of this version and of broken ones; nothing of the computer changes in any of them."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from parachute.config.settings.home import Home
from parachute.ops.rehearsal.models import Check, Rehearsal
from parachute.ops.rehearsal.service import rehearse
from tests.config.declared.declaring import write
from tests.conftest import needs_bubblewrap
from tests.ops.rehearsal.conftest import SECRET
from tests.ops.rehearsal.versions import version
from tests.support.computer import Computer
from tests.support.links import linked

pytestmark = [pytest.mark.long, needs_bubblewrap, pytest.mark.usefixtures("views_work"), pytest.mark.computer]

Rehearsed = Callable[..., Rehearsal]

MIGRATION = """

def m9001_rehearsed(connection: sqlite3.Connection) -> None:
    {0}


TRUST = (*TRUST, m9001_rehearsed)
"""
MIGRATIONS = "chat/sessions/migrations.py"
ADDS = MIGRATION.format('connection.execute("CREATE TABLE rehearsed (a TEXT) STRICT")')

ORDER = [
    "copies",
    "start",
    "migrations",
    "doctor",
    "modules",
    "end",
]


def failed(result: Rehearsal) -> Check:
    """The one check that failed."""
    wrong = [check for check in result.checks if not check.ok]
    assert len(wrong) == 1, result
    assert not result.ok
    return wrong[0]


def test_a_version_that_is_well_beside_a_running_computer(
    owned: Computer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(owned.folder))
    python = version(tmp_path / "version", {MIGRATIONS: f"+{ADDS}"})
    # What the system declares goes over every variable, and no container starts in a rehearsal.
    write(owned.folder / "declared.json", settings={"sandbox": {"engine": "podman"}, "provider": "offline"})
    told: list[Check] = []
    owned.start()
    try:
        core = owned.find_process("parachute.server").pid
        result = asyncio.run(rehearse(owned.home, python, told.append))
        assert owned.find_process("parachute.server").pid == core
    finally:
        owned.stop()
        write(owned.folder / "declared.json")
    assert [(check.name, check.ok) for check in told] == [(name, True) for name in ORDER], told
    assert result == Rehearsal(
        tuple(told), ("trust.db is migrated: m9001_rehearsed. The present version cannot open it after that.",)
    )
    assert result.ok
    with closing(sqlite3.connect(owned.home.trust_database)) as connection:
        assert not connection.execute("SELECT * FROM sqlite_master WHERE name = 'rehearsed'").fetchall()
    assert not (owned.vault / "Projects").exists()


def test_a_computer_that_is_reached_through_links(owned: Computer, monkeypatch: pytest.MonkeyPatch) -> None:
    version(owned.folder / "version")
    with linked(owned.folder) as link, linked(owned.vault) as vault:
        monkeypatch.setenv("HOME", str(link))
        monkeypatch.setenv("PARACHUTE_VAULT", str(vault))
        told: list[Check] = []
        asyncio.run(rehearse(Home(link / ".parachute"), link / "version" / "bin" / "python", told.append))
    assert [(check.name, check.ok) for check in told] == [(name, True) for name in ORDER], told


def test_what_the_system_will_declare_is_tried_with_it(rehearsed: Rehearsed, tmp_path: Path) -> None:
    check = failed(rehearsed(declared=write(tmp_path / "next.json", settings={"wrong": 1})))
    assert (check.name, "settings.wrong" in str(check.detail)) == ("doctor", True), check


SPY = f"""
import os, socket, sys
from pathlib import Path

home, vault = Path(os.environ["PARACHUTE_HOME"]), Path(os.environ["HOME"], "Parachute")
found = []
for path in (path for root in (home, vault) for path in root.rglob("*") if path.is_file()):
    if {SECRET!r}.encode() in path.read_bytes():
        found.append(path.name)
(vault / "Notes.md").write_text("changed")
(vault / "made.md").write_text("made")
(home / "config.yaml").write_text("changed")
for path in (Path("/etc/outside"), Path("/usr/outside"), Path(sys.prefix, "outside")):
    try:
        path.write_text("written")
        found.append(str(path))
    except OSError:
        pass
try:
    os.unlink(vault / "Notes.md")
    socket.create_connection(("127.0.0.1", int(Path(vault, "port").read_text())), timeout=10).close()
    found.append("the network")
except OSError:
    pass
print("FOUND", found, {SECRET!r} in str(os.environ))
sys.exit(7)
"""


def test_neither_secrets_nor_the_network_are_there_and_only_copies_are_written(
    rehearsed: Rehearsed, owned: Computer
) -> None:
    # The socket of the tests' own computer is bound all the time, and listens here.
    owned._port.listen()
    (owned.vault / "port").write_text(str(owned.port))
    check = failed(rehearsed({"supervisor/__main__.py": f"^{SPY}"}))
    assert check.name == "start"
    assert "Its supervisor ended with 7" in check.sentence
    assert check.detail is not None
    assert "FOUND [] False" in check.detail


@pytest.mark.parametrize(
    ("changes", "name", "says"),
    [
        pytest.param({"server/__main__.py": "^raise RuntimeError\n"}, "start", "ends again and again", id="raises"),
        pytest.param(
            {
                "server/status/api.py": "    if not detailed:\n => \n    import asyncio; await asyncio.sleep(1000)\n    if not detailed:\n"
            },
            "start",
            "was not healthy",
            id="hangs",
        ),
        pytest.param(
            {MIGRATIONS: "+" + MIGRATION.format('raise sqlite3.OperationalError("no such column: rehearsed")')},
            "start",
            "no such column: rehearsed",
            id="migration-raises",
        ),
        pytest.param(
            {
                MIGRATIONS: f"+{ADDS}",
                "server/app.py": "def create( => def create(*_, **__): raise RuntimeError('later')\ndef other(",
            },
            "start",
            "later",
            id="crashes-after-migrating",
        ),
        pytest.param(
            {"config/settings/models.py": "    hostnames: list[str] => \n    names: list[str]"},
            "start",
            "hostnames",
            id="unknown-setting",
        ),
        pytest.param({"cli/__init__.py": "^raise RuntimeError\n"}, "doctor", "ended with 1", id="no-commands"),
    ],
)
def test_a_broken_version(rehearsed: Rehearsed, changes: dict[str, str], name: str, says: str) -> None:
    result = rehearsed(changes)
    check = failed(result)
    assert check.name == name, result
    assert says in f"{check.sentence}\n{check.detail}"


def test_a_version_with_several_faults_shows_them_all(rehearsed: Rehearsed) -> None:
    statements = (
        "CREATE TABLE rehearsed (a TEXT, b TEXT)",
        "CREATE INDEX rehearsed_by_a ON rehearsed (a)",
        "INSERT INTO rehearsed VALUES ('one', 'two')",
        "PRAGMA writable_schema=ON",
        "UPDATE sqlite_master SET sql = 'CREATE INDEX rehearsed_by_a ON rehearsed (b)' WHERE name = 'rehearsed_by_a'",
        "DELETE FROM sessions",
    )
    damages = MIGRATION.format(f"[connection.execute(each) for each in {statements!r}]").replace("TRUST", "ALL")
    result = rehearsed(
        {
            MIGRATIONS: f"+{damages}",
            "modules/host_process/process.py": "^raise RuntimeError\n",
        }
    )
    found = {check.name: str(check.detail) for check in result.checks if not check.ok}
    assert found.keys() == {"doctor", "modules"}, result
    assert "sessions.db" in found["doctor"]
    assert "tested" in found["modules"]
    assert "In sessions.db the table sessions, which has 1 rows, is empty." in result.changes
