"""Brain as it really runs: verified, in a process of its own, in its sandbox."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.modules.host_process.activator import HostedModule
from tests.support.waiting import wait_until

pytestmark = pytest.mark.long

FOLDER = Path(__file__).parents[2] / "modules" / "brain"
FILES: dict[str, str | bytes] = {
    str(path.relative_to(FOLDER)): path.read_bytes()
    for path in FOLDER.rglob("*")
    if path.is_file() and "__pycache__" not in path.parts and path.name != "manifest.yaml"
}
PUBLISHED = {"/publish": {"id": "1"}, "/interfaces": {"interfaces": {}}}


@pytest.fixture(params=[False, True], ids=["bare", "sandbox"])
def brain(request: pytest.FixtureRequest) -> Iterator[HostedModule]:
    running = HostedModule(
        "brain",
        FILES,
        manifest=(FOLDER / "manifest.yaml").read_text(),
        box=request.param,
        answers=PUBLISHED,
        changes={"write": ("Brain",)},
    )
    try:
        yield running
    finally:
        running.close()


def test_it_keeps_what_it_was_told_over_a_crash(brain: HostedModule) -> None:
    made = brain.post("/entities", {"entity_type": "person", "data": {"name": "Kevin", "aliases": ["Kev"]}})
    assert made.status == 201, brain.log
    id = made.json()["entity_id"]
    assert brain.post("/link", {"source_id": "para:daily:x7y8z9w0v1u2", "para_id": id}).status == 200
    tools = {entry["name"] for entry in brain.get("/_parachute/describe").json()["mcp_tools"]}
    assert tools == {f"brain-{name}" for name in ("search", "resolve", "link", "suggest", "types", "context")}
    assert brain.process is not None
    os.killpg(brain.process.pid, signal.SIGKILL)
    wait_until(lambda: bool(brain.exits), "the process ends")
    (brain.vault / "Brain/entities/people/ann.md").write_text("# Ann\n")
    assert brain.get("/resolve/kev").json()["para_id"] == id
    assert brain.get("/resolve/ann").status == 200
    assert brain.get(f"/links?id={id}").json()["mentions"][0]["source_id"] == "para:daily:x7y8z9w0v1u2"
    assert brain.request("POST", "/reload").events()[-1]["entities"] == 2
    assert brain.post(
        "/_parachute/interface",
        {
            "interface": "BrainInterface",
            "method": "resolve",
            "arguments": {"text": "Kevin"},
        },
    ).json() == {"result": id}


def test_ids_with_a_slash_as_the_app_sends_them(brain: HostedModule) -> None:
    brain.post("/entities", {"entity_type": "person", "data": {"name": "Kevin"}})
    assert brain.request("PUT", "/entities/Person/kevin", {"data": {"tags": ["x"]}}).json()["tags"] == ["x"]
    assert brain.get("/entities/Person%2Fkevin").status == 200
    assert brain.request("DELETE", "/entities/Person/kevin?commit_msg=bye").status == 200
