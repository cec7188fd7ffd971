"""Changes of a session on a computer that runs, made beside it: what a run leaves in its database."""

from pathlib import Path
from typing import Any

from parachute.base.database import Database
from parachute.changes import store
from parachute.changes.service import Changes
from parachute.config.settings.groups.agents import ChangesSettings
from parachute.config.settings.home import Home


async def change(home: Home, session: str, folder: Path) -> None:
    """Let a run of the session write `hull.py` into the project `folder`, and have `.envrc` wait."""
    upper = folder.with_name(f"{folder.name}-upper")
    for each in (folder, upper):
        each.mkdir(parents=True)
    for name in ("hull.py", ".envrc"):
        (upper / name).write_text(f"{name}\n")
    database = Database(home.changes_database, store.ALL)
    await database.open()
    changes = Changes(ChangesSettings(), home.changes, database, lambda: None)
    await changes.begin(session, folder, upper)
    assert (await changes.apply(session, final=True)).held == 1
    await database.close()


async def call_changes(home: Home, folder: Path, call: Any, session: str) -> None:
    """Use every route of changes."""
    await change(home, session, folder)
    path = "/api/chat/{session}"
    (run,) = (await call(f"GET {path}/changes", session=session))["runs"]
    number = str(run["run"])
    shown = await call(f"GET {path}/changes/{{run}}/diff", query="?path=.envrc", session=session, run=number)
    assert shown["diff"].endswith("+.envrc")
    items = (await call("GET /api/inbox"))["items"]
    assert [each["kind"] for each in items if each["session_id"] == session] == ["changes"]
    answer = {"run": run["run"], "answer": "apply", "hash": run["hash"]}
    assert (await call(f"POST {path}/changes/answer", answer, session=session))["paths"] == [".envrc"]
    assert (folder / ".envrc").exists()
    assert (await call(f"POST {path}/undo", {"run": run["run"]}, session=session))["restored"] == ["hull.py"]
    assert not (folder / "hull.py").exists()
