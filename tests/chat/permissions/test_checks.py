"""A request of the owner narrows permissions, or is an error that changes nothing."""

import json
from typing import Any

import pytest

from parachute.config.settings.models import Settings
from tests.chat.permissions.conftest import Talk
from tests.conftest import needs_bubblewrap

pytestmark = [needs_bubblewrap, pytest.mark.long]

WRONG: list[tuple[dict[str, Any], int, str]] = [
    ({"allowed_folders": ["Nowhere"]}, 404, "no folder"),
    ({"allowed_folders": ["Brain/people/kevin.md"]}, 404, "no folder"),
    ({"allowed_folders": [".parachute"]}, 422, "secret"),
    ({"allowed_folders": [".claude"]}, 422, "hidden"),
    ({"allowed_folders": ["Brain/../.claude"]}, 422, ""),
    ({"allowed_folders": ["/etc"]}, 422, "neither in the vault"),
    ({"allowed_folders": ["~"]}, 422, "neither in the vault"),
    ({"allowed_folders": ["."]}, 422, "whole vault"),
    ({"allowed_folders": ["linked"]}, 422, "never shown"),
    ({"allowed_mcps": ["a tool"]}, 422, ""),
    ({"capabilities": ["Fly"]}, 422, "Fly"),
    ({"network": {"mode": "ask"}}, 422, ""),
    ({"network": {"mode": "off", "hosts": ["example.org"]}}, 422, "no hosts"),
    ({"network": {"mode": "list", "hosts": ["example.org"]}}, 422, "may not reach"),
    ({"network": {"mode": "list", "hosts": ["127.0.0.1"]}}, 422, ""),
    ({"sandbox_override": {"memory_megabytes": 4000}}, 422, "more than"),
    ({"sandbox_override": {"memory_megabytes": 1}}, 422, ""),
    ({"sandbox_override": {"swap": 1}}, 422, ""),
    ({"template": "king"}, 422, "king"),
    ({"permissions": {}}, 422, ""),
]


async def test_what_is_wrong_or_wider_changes_nothing(talk: Talk) -> None:
    await talk.say()
    link = talk.house.vault / "linked"
    link.symlink_to(talk.house.vault / "Daily")
    await talk.permit(template="guest")
    before = (await talk.stored())["permissions"]
    for said, status, words in WRONG:
        for body in (said, {"title": "Another", "capabilities": None, **said}):
            answer = await talk.client.patch(f"/api/chat/{talk.session}/config", json=body)
            assert (answer.status_code, words in answer.text) == (status, True), (body, answer.text)
            stored = await talk.stored()
            assert (stored["permissions"], stored["title"]) == (before, "Hello!")
    link.unlink()


async def test_a_workspace_bounds_its_conversations(talk: Talk) -> None:
    boat = {
        "name": "Boat",
        "capabilities": {"mcps": ["brain-search"]},
        "network": {"mode": "list", "hosts": ["*.example.org"]},
        "memory_megabytes": 600,
    }
    made = await talk.client.post("/api/workspaces", json=boat)
    slug = made.json()["workspace"]["slug"]
    await talk.say(workspaceId=slug)
    usual = Settings().sandbox
    bounds = (await talk.client.get(f"/api/chat/{talk.session}")).json()["sandbox_limits"]
    assert bounds == {"memory_megabytes": 600, "cpus": usual.cpus, "processes": usual.processes}
    for wider in (
        {"allowed_mcps": ["brain"]},
        {"allowed_mcps": ["brain-link"]},
        {"network": {"mode": "list", "hosts": ["example.com"]}},
        {"sandbox_override": {"memory_megabytes": 601}},
    ):
        answer = await talk.permit(422, **wider)
        assert (answer["key"], "only narrow" in answer["hint"]) == ("wider", True)
    await talk.permit(
        allowed_mcps=["brain-search"],
        network={"mode": "list", "hosts": ["api.example.org"]},
        sandbox_override={"memory_megabytes": 600},
    )
    await talk.say()
    assert "These hosts are allowed: api.example.org. No others are." in talk.prompt
    assert "brain-search?" in (await talk.permit(422, allowed_mcps=["brain_search"]))["detail"]
    # What is asked of another workspace counts in that, and what was said once goes with it.
    assert (await talk.permit(422, workspaceId=slug, allowed_mcps=["brain-link"]))["detail"].startswith("allowed_mcps")
    await talk.permit(workspaceId="", allowed_mcps=["brain-search", "brain-link"])
    stream = await talk.say()
    assert [name for name in sorted(stream.of_type("init")[0]["tools"]) if "brain" in name] == [
        "mcp__parachute__brain-link",
        "mcp__parachute__brain-search",
    ]


async def test_templates_are_listed_and_then_changed(talk: Talk) -> None:
    listed = (await talk.client.get("/api/chat/permission-templates")).json()
    assert [each["name"] for each in listed["templates"]] == ["personal", "project", "family", "guest"]
    assert {"Read", "Bash"} < {each["name"] for each in listed["capabilities"]}
    assert all(each["description"] for each in listed["templates"])
    await talk.say()
    for each in listed["templates"]:
        answer = await talk.permit(template=each["name"])
        assert answer["session"]["permissions"] == {"template": each["name"], **each["permissions"]}
    answer = await talk.permit(template="guest", capabilities=["TodoWrite"])
    assert answer["session"]["permissions"]["template"] is None
    assert answer["session"]["permissions"]["capabilities"] == ["TodoWrite"]


async def test_the_command_line_says_shows_and_takes_back(talk: Talk) -> None:
    await talk.say()

    def permit(*options: str) -> Any:
        done = talk.house.command("sessions", "permit", talk.session[:12], *options, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert permit("--template", "family")["template"] == "family"
    found = permit(
        "--folder", "Brain", "--folder", "Projects/ship", "--mcp", "none", "--capability", "all", "--cpus", "1"
    )
    assert found["allowed_folders"] == ["Brain", "Projects/ship"]
    assert (found["allowed_mcps"], found["capabilities"], found["network"]["mode"]) == ([], None, "off")
    assert permit("--memory", "700")["sandbox_override"] == {"memory_megabytes": 700, "cpus": 1}
    assert permit()["allowed_folders"] == ["Brain", "Projects/ship"]
    shown = talk.house.command("sessions", "permit", talk.session)
    assert "Folders  Brain, Projects/ship\n" in shown.stdout
    assert " · limited" in talk.house.command("sessions", "show", talk.session).stdout
    wrong = talk.house.command("sessions", "permit", talk.session, "--capability", "Fly")
    assert (wrong.returncode, "Fly" in wrong.stderr) == (1, True)
    assert set(permit("--clear").values()) == {None, "personal"}
    assert "limited" not in talk.house.command("sessions", "show", talk.session).stdout
    assert "Nothing is taken" in talk.house.command("sessions", "permit", talk.session).stderr
