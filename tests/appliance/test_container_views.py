"""Copy-on-write views of containers, by the kernel and Podman of a booted guest."""

# ruff: noqa: F811 - fixtures of another file have the names of parameters here

import json
from collections.abc import Iterator
from typing import Any

import pytest
from testinfra.host import Host

from tests.appliance.agents import Agents
from tests.appliance.recipe import USER_ID
from tests.appliance.test_containers import agents, built  # noqa: F401 - fixtures
from tests.support.sse import text_of


@pytest.fixture(scope="module")
def views(host: Host, agents: Agents, built: dict[str, Any]) -> Iterator[str]:
    """A file system for views: the guest's own is an overlay, in which no layer of another one can lie."""
    folder = f"{agents.home}/.parachute/views"
    agents.run(f"mkdir -p -m 700 {folder}")
    host.check_output(f"mount -t tmpfs -o uid={USER_ID},gid={USER_ID},mode=700 tmpfs {folder}")
    yield folder
    host.check_output(f"umount --lazy {folder}")


@pytest.fixture
def project(agents: Agents, views: str) -> Iterator[str]:
    """A repository of the owner's."""
    folder = f"{agents.home}/Parachute/Projects/boat"
    git = "git -c user.name=o -c user.email=o@o"
    agents.run(f"mkdir -p {folder}/src && cd {folder} && echo 'int main;' > src/main.c && echo before > plan")
    agents.run(f"cd {folder} && git init -q && git add -A && {git} commit -qm first")
    yield folder
    agents.run(f"rm -rf {folder}")


def listing(agents: Agents, project: str) -> str:
    """Every file, folder and link of a project with its mode and content; without objects of git, which an undo leaves."""
    find = "find . -path ./.git/objects -prune -o -printf '%p %y %m %l\\n' -type f -exec sha256sum {} + | sort"
    return agents.run(f"cd {project} && {find}")


def test_podman_mounts_views(agents: Agents, project: str) -> None:
    found = json.loads(agents.run("parachute sandbox status --json"))
    assert (found["engine"], found["views"]) == ("podman", {"available": True, "reason": None})
    session = agents.say("echo up", workingDirectory=project)[-1]["sessionId"]
    explained = json.loads(agents.run(f"parachute sandbox explain {session} --json"))
    assert [row for row in explained["rows"] if row["differs"]] == []


def test_work_is_applied_others_obey_nothing_and_undo_brings_all_back(agents: Agents, project: str, views: str) -> None:
    before = listing(agents, project)
    work = (
        "echo after > plan; rm -r src; mkdir docs; echo x > docs/new; git init -q nested; mkdir .vscode; "
        "echo {} > .vscode/settings.json; git -c user.name=a -c user.email=a@a commit -qam second && echo done"
    )
    events = agents.events(work, workingDirectory=project)
    assert events[-1]["type"] == "done", events[-1]
    assert text_of(events) == "done"
    (warning,) = [event for event in events if event["type"] == "warning"]
    assert warning["title"] == "Waiting for you"
    assert (
        agents.run(f"cd {project}; ls -A; cat plan; git log --format=%s")
        == ".git\ndocs\nnested\nplan\nafter\nsecond\nfirst"
    )
    assert agents.run(f"ls -A {views}/{events[-1]['sessionId']}") != ""
    items = json.loads(agents.run("parachute inbox --json"))["items"]
    assert [item["kind"] for item in items] == ["changes"]
    agents.run("parachute undo")
    assert listing(agents, project) == before
    again = agents.events("cat plan; ls -A", events[-1]["sessionId"])
    assert text_of(again) == "before\n.git\n.vscode\nnested\nplan\nsrc"
