"""`GET /api/para/{id}` with what Brain resolves."""

from pathlib import Path

import pytest

from tests.modules.runtime.module_computer import ModuleServer

pytestmark = pytest.mark.long

BRAIN = Path(__file__).parents[3] / "modules" / "brain"
PROJECT = "---\nname: The Parachute\npara_id: project-parachute\n---\nIt opens.\n"


def test_a_name_and_an_older_id_are_resolved_as_brain_does(server: ModuleServer) -> None:
    file = server.vault / "Brain" / "entities" / "project" / "parachute.md"
    file.parent.mkdir(parents=True)
    file.write_text(PROJECT)
    assert server.get("/api/para/project-parachute").status_code == 422, "nobody knows names"
    with server.modules.installing(str(BRAIN)) as installation:
        installation.finish()
    server.reload()
    known = server.value("/api/brain/resolve/project-parachute")["para_id"]
    for name in ("project-parachute", "The Parachute", known):
        found = server.value(f"/api/para/{name}")
        assert (found["id"], found["module"], found["item"]["path"]) == (
            known,
            "brain",
            str(file.relative_to(server.vault)),
        )
    missing = server.get("/api/para/Nobody Atall")
    assert (missing.status_code, missing.json()["key"]) == (404, "para_id_unsure")
