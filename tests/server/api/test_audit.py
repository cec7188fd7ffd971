"""The audit log over HTTP."""

import json
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest

from parachute.base.clock import as_text
from parachute.web.access.routing import Need, needed
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text, tool_use

from .conftest import settled, talk

PATH = "/api/audit"


def ends(record: dict[str, Any]) -> tuple[str, str]:
    """Return the caller and its target, as the graph names them; all conversations are one."""
    who = record.get("owner") or "chat" if record["source_type"] == "agent" else record["source_id"]
    return f"{record['source_type']}:{who}", f"module:{record['target_module']}"


async def test_what_was_done_is_found_counted_and_verified(owner: httpx2.AsyncClient, installation: Computer) -> None:
    await settled(installation)
    before = as_text(datetime.now(UTC))
    for number in range(5):
        await owner.delete(f"/api/auth/keys/none-{number}")
    wanted: dict[str, str | int] = {"module": "auth", "event": "api_call", "from": before, "limit": 2}
    first = (await owner.get(PATH, params=wanted)).json()
    assert [each["target_endpoint"][-6:] for each in first["records"]] == ["none-4", "none-3"]
    second = (await owner.get(PATH, params={**wanted, "before": first["next"]})).json()
    assert [each["target_endpoint"][-6:] for each in second["records"]] == ["none-2", "none-1"]
    assert not any(each["success"] for each in second["records"])
    exported = [json.loads(line) for line in (await owner.get(f"{PATH}/export")).text.splitlines()]
    verified = (await owner.get(f"{PATH}/verify")).json()
    graph = (await owner.get(f"{PATH}/graph", params={"hours": 1000})).json()
    assert (verified["is_whole"], verified["problems"]) == (True, [])
    assert len(exported) == verified["records"] == graph["records"] == sum(e["requests"] for e in graph["edges"])
    for edge in graph["edges"]:
        own = [each for each in exported if ends(each) == (edge["from"], edge["to"])]
        times = [each["duration_ms"] for each in own]
        assert edge["requests"] == len(own), edge
        assert edge["failures"] == sum(not each["success"] for each in own), edge
        assert (edge["total_ms"], edge["longest_ms"]) == (sum(times), max(times)), edge
        assert edge["events"] == Counter(each["event_type"] for each in own), edge
    assert {node["id"] for node in graph["nodes"]} == {end for each in exported for end in ends(each)}


async def test_a_tool_call_is_found_by_its_file_with_what_it_cost(
    owner: httpx2.AsyncClient, installation: Computer, model: MessagesAPI
) -> None:
    note = installation.vault / "Projects" / "boat.md"
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text("The boat is called Ada.")
    inside = "/vault/Projects/boat.md"
    model.script(
        tool_use("Read", {"file_path": inside}),
        tool_use("Bash", {"command": "echo token=abcdefgh12345\nls"}),
        tool_use("Write", {"file_path": "/vault/.parachute/x", "content": "y"}),
        text("Done."),
    )
    session = await talk(owner, "Read it.")
    await settled(installation)
    (read,) = (await owner.get(PATH, params={"file": "boat.md", "session": session})).json()["records"]
    assert (read["event_type"], read["target_endpoint"], read["success"]) == ("tool_call", "Read", True)
    assert read["files"] == [{"path": "Projects/boat.md", "action": "read"}]
    found = (await owner.get(PATH, params={"session": session})).json()["records"]
    tools = {each["target_endpoint"]: each for each in found if each["event_type"] == "tool_call"}
    assert tools["Bash"]["summary"] == "echo token=[removed]…"
    assert tools["Write"]["success"] is False
    (run,) = [each for each in found if each["event_type"] == "run"]
    calls = [each for each in found if each["event_type"] == "gateway_call"]
    assert run["tokens"]["output"] == sum(each["tokens"]["output"] for each in calls)
    assert run["caller"] == "command line"
    assert "Ada" not in str(found)


@pytest.mark.parametrize("query", ["?limit=0", "?limit=1001", "?from=soon", "?before=x", "?file=", "/graph?hours=0"])
async def test_bad_questions_are_refused(owner: httpx2.AsyncClient, query: str) -> None:
    answer = await owner.get(f"{PATH}{query}")
    assert answer.status_code == 422
    assert isinstance(answer.json()["detail"], str)


@pytest.mark.parametrize("path", ["", "/graph", "/verify", "/export"])
def test_only_an_admin_reads_it(path: str) -> None:
    assert needed("GET", f"{PATH}{path}") == Need("audit", "admin")
