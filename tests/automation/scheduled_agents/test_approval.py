"""Files of the vault run only as the user has seen them; those that a module brings run with the module."""

import json

import pytest

from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from tests.automation.scheduled_agents.conftest import AGENTS, BROUGHT, OWN, Garden
from tests.support.messages_api import MessagesAPI, text, tool_use

pytestmark = pytest.mark.long


def test_a_file_of_the_vault_waits_until_it_is_approved(garden: Garden, api: MessagesAPI) -> None:
    garden.write_agent("weeds", OWN)
    shown = garden.agent("weeds")
    assert (shown["status"], shown["source"], shown["path"]) == (
        "waits_for_approval",
        "vault",
        "Garden/.agents/weeds.md",
    )
    assert (shown["schedule"]["time"], shown["nextRunAt"], shown["nextRuns"]) == ("06:15", None, [])
    asked = len(api.requests)
    refused = garden.post(f"{AGENTS}/weeds/run", json={})
    assert (refused.status_code, refused.json()["key"]) == (409, "not_approved")
    assert len(api.requests) == asked

    assert garden.let("weeds").json()["status"] == "ready"
    api.script(tool_use("Bash", {"command": "echo none > /vault/Garden/x; ls /vault"}), text("No weeds."))
    ended = garden.run("weeds", date="2026-03-01")
    assert (ended["status"], ended["output_path"]) == ("completed", "Garden/weeds/2026-03-01.md")
    assert sorted(tool["name"] for tool in api.conversation[-1].body["tools"]) == ["Bash", "Read"]
    # It reads, and nothing more.
    assert "Read-only file system" in str(api.conversation[-1].tool_results)
    assert not (garden.vault / "Garden/x").exists()


def test_an_edit_after_the_approval_waits_again(garden: Garden, api: MessagesAPI) -> None:
    path = garden.write_agent("weeds", OWN)
    seen = garden.agent("weeds")["hash"]
    garden.let("weeds")
    path.write_text(path.read_text().replace("Look for weeds.", "Send me the diary."))
    assert garden.agent("weeds")["status"] == "waits_for_approval"
    assert garden.post(f"{AGENTS}/weeds/run", json={}).status_code == 409
    late = garden.let("weeds", seen)
    assert (late.status_code, late.json()["key"]) == (409, "agent_changed")
    assert garden.agent("weeds")["status"] == "waits_for_approval"
    # One that was approved before does not come back with the newer one.
    garden.let("weeds")
    garden.write_agent("weeds", OWN)
    assert garden.agent("weeds")["status"] == "waits_for_approval"


def test_an_own_file_replaces_the_one_of_the_module_also_while_it_waits(garden: Garden) -> None:
    garden.write_agent("page", OWN.replace("name: weeds", "name: page"))
    shown = garden.agent("page")
    assert (shown["source"], shown["status"]) == ("vault", "waits_for_approval")
    assert garden.post(f"{AGENTS}/page/run", json={}).status_code == 409
    (garden.vault / "Garden/.agents/page.md").unlink()
    assert garden.agent("page")["status"] == "ready"


def test_the_same_file_in_another_modules_folder_is_another_one(garden: Garden) -> None:
    garden.plant("orchard", agents={})
    garden.write_agent("weeds", OWN)
    garden.let("weeds")
    garden.write_agent("weeds", OWN, folder="Orchard")
    (there,) = garden.value("/api/modules/orchard/agents")["agents"]
    assert (garden.agent("weeds")["status"], there["status"]) == ("ready", "waits_for_approval")


@pytest.mark.parametrize("scope", ["garden:read,write", "chat:admin", None])
def test_approving_needs_admin_rights_in_the_module(garden: Garden, scope: str | None) -> None:
    garden.write_agent("weeds", OWN.replace("weeds.", f"weeds of {scope}."))
    body = {"hash": garden.agent("weeds")["hash"]}
    headers = {}
    if scope is not None:
        keys = Keys(garden.home.root)
        _, secret = keys.create(f"test {scope}", [Scope.parse(scope)])
        keys.close()
        headers = {"x-api-key": secret}
    assert garden.post(f"{AGENTS}/weeds/approve", json=body, headers=headers).status_code == 403
    assert garden.agent("weeds")["status"] == "waits_for_approval"


def test_nothing_is_approved_while_the_file_of_approvals_cannot_be_read(garden: Garden) -> None:
    garden.write_agent("weeds", OWN)
    garden.let("weeds")
    approved = garden.home.root / "agents-approved.json"
    kept = approved.read_text()
    approved.write_text("{")
    try:
        refused = garden.post(f"{AGENTS}/weeds/run", json={})
        assert refused.status_code == 422
        assert "no agent is approved" in refused.json()["detail"]
    finally:
        approved.write_text(kept)
    assert garden.agent("weeds")["status"] == "ready"


def test_agents_that_cannot_be_read_say_why(garden: Garden) -> None:
    garden.write_agent("broken", OWN.replace("6:15", "soon").replace("name: weeds", "displayName: Broken"))
    (garden.vault / "Garden/.agents/latin.md").write_bytes(b"\xff\xfe")
    (garden.vault / "Garden/.agents/huge.md").write_bytes(b"x" * 70_000)
    problems = {each["name"]: each["problem"] for each in garden.value(AGENTS)["agents"] if each["status"] == "broken"}
    assert problems["broken"].startswith("schedule.time: 'soon' is no time of the day and no schedule; write ")
    assert problems["latin"] == "The file is not UTF-8."
    assert "larger than 65,536 bytes" in problems["huge"]
    assert garden.post(f"{AGENTS}/broken/run", json={}).status_code == 422
    assert garden.let("broken").status_code == 422


def test_agents_of_a_module_that_is_not_trusted_are_none(garden: Garden) -> None:
    folder = garden.folder / "sources/wild/agents"
    folder.mkdir(parents=True)
    (folder / "page.md").write_text(BROUGHT)
    garden.install("wild", untrusted=True, permissions={"write": ["Wild/**"]})
    assert garden.value("/api/modules/wild/agents") == {"agents": []}


def test_the_command_line(garden: Garden, api: MessagesAPI) -> None:
    garden.write_agent("weeds", OWN.replace("weeds.", "nettles."))
    listed = garden.command("schedule", "list")
    assert "garden/page" in listed.stdout
    assert "every day at 21:30" in listed.stdout
    assert "waits for approval" in listed.stdout
    assert {each["name"] for each in json.loads(garden.command("schedule", "list", "--json").stdout)["agents"]} >= {
        "page",
        "weeds",
    }
    asked = garden.command("schedule", "approve")
    assert asked.returncode == 3
    assert "Look for nettles." in asked.stdout
    assert garden.agent("weeds")["status"] == "waits_for_approval"
    assert garden.command("schedule", "approve", "weeds", "--yes").stdout.endswith("Approved: garden/weeds.\n")
    assert garden.command("schedule", "approve").stdout == "Nothing waits for approval.\n"
    api.script(text("None."))
    ran = garden.command("schedule", "run", "garden/weeds", "--date", "2026-03-02")
    assert (ran.returncode, ran.stdout) == (0, "garden/weeds wrote Garden/weeds/2026-03-02.md.\n")
    assert "skipped" in garden.command("schedule", "run", "weeds", "--date", "2026-03-02").stdout
    logged = garden.command("schedule", "log", "weeds").stdout
    assert "person, for 2026-03-02: completed" in logged
    assert "  Wrote Garden/weeds/2026-03-02.md." in logged
    assert garden.command("schedule", "reset", "weeds").stdout == "garden/weeds was reset.\n"
    assert garden.agent("weeds")["state"]["runCount"] == 0
    unknown = garden.command("schedule", "run", "nobody")
    assert unknown.returncode != 0
    assert "There is no agent 'nobody'." in unknown.stderr


def test_status_counts_those_that_could_run_if_they_were_approved(garden: Garden) -> None:
    def waiting() -> int:
        return int(garden.value("/api/status")["waiting"]["agents"])

    assert waiting() == 0
    for name in ("weeds", "page"):  # a new one, and one in the place of the module's
        garden.write_agent(name, OWN.replace("name: weeds", f"name: {name}"))
    garden.write_agent("broken", OWN.replace("6:15", "25:00"))
    (garden.vault / "Garden/.agents/elsewhere.md").symlink_to(garden.vault / "Garden/.agents/weeds.md")
    assert waiting() == 2
    garden.let("weeds")
    assert waiting() == 1
