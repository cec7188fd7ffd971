"""Copy-on-write views of containers, by the kernel and Podman of a booted guest."""

import ast
import json
import shlex
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from testinfra.host import Host

from tests.appliance.agents import Agents, with_views
from tests.appliance.guest import Guest
from tests.appliance.phone import PHONE, joined
from tests.appliance.recipe import ENVIRONMENT, SOURCE
from tests.changes.random_work import OWNERS, WORK, Owners, comes_back
from tests.sandbox.git.git_host import TOKEN, GitHost
from tests.support.package_index import PackageIndex
from tests.support.sse import text_of

NAME = "git.home.arpa"
LISTING = f"{ENVIRONMENT}/bin/python {SOURCE}/tests/changes/listing.py"


class InContainers:
    """A computer whose agents are in containers; the owner writes while the agent does."""

    def __init__(self, agents: Agents) -> None:
        self._agents = agents
        self._session = ""
        self.project = f"{agents.home}/Parachute/Projects/random"

    def clear(self) -> None:
        """Begin with an empty project."""
        self._agents.run(f"rm -rf {self.project} && mkdir -p {self.project}")

    def own(self, changes: Owners) -> dict[str, str]:
        """Write as the owner."""
        program = f"cd {SOURCE} && {ENVIRONMENT}/bin/python -m tests.changes.random_work {self.project}"
        said = self._agents.run(f"printf %s {shlex.quote(json.dumps(changes))} | ({program})")
        written: dict[str, str] = json.loads(said)
        return written

    def listed(self) -> dict[str, str]:
        """Everything in the project."""
        return dict(ast.literal_eval(self._agents.run(f"cd {self.project} && {LISTING}")))

    def read(self, path: str) -> str:
        """A file of the project; the output of a command has no end of the line."""
        return f"{self._agents.run(f'cat {self.project}/{path}')}\n"

    def turn(self, script: str, meanwhile: Callable[[], object]) -> None:
        """Run the script in a container."""
        with ThreadPoolExecutor(1) as waiting:
            working = waiting.submit(self._agents.events, f"{script}\necho done", workingDirectory=self.project)
            meanwhile()
            events = working.result()
        assert text_of(events).split()[-1] == "done", events
        self._session = events[-1]["sessionId"]

    def undo(self) -> None:
        """Take the turn back."""
        status, answer = self._agents.ask(f"/api/chat/{self._session}/undo", {})
        assert status == 200 or answer["key"] == "nothing_to_undo", answer


@pytest.fixture(scope="module")
def views(host: Host, agents: Agents, built: dict[str, Any]) -> Iterator[str]:
    """A computer with views."""
    with with_views(host, agents.home) as folder:
        yield folder


@pytest.fixture
def project(agents: Agents, views: str) -> Iterator[str]:
    """A repository of the owner's."""
    folder = f"{agents.home}/Parachute/Projects/boat"
    git = "git -c user.name=o -c user.email=o@o"
    agents.run(f"mkdir -p {folder}/src && cd {folder} && echo 'int main;' > src/main.c && echo before > plan")
    agents.run(f"cd {folder} && git init -q && git add -A && {git} commit -qm first")
    yield folder
    agents.run(f"rm -rf {folder}")


@pytest.fixture
def git_host(host: Host, agents: Agents, tmp_path: Path) -> Iterator[GitHost]:
    """A git host that the guest knows by a name, trusts, and has a token of."""
    made = GitHost(tmp_path / "repositories")
    made.make("owner/boat.git")
    host.check_output(f"cp /etc/hosts /etc/hosts.before; echo {PHONE} {NAME} >> /etc/hosts")
    agents.run(f"cat > authority.pem <<'END'\n{made.authority.file.read_text()}\nEND")
    agents.run("parachute config set git.ca_file ~/authority.pem && parachute restart")
    yield made
    agents.run("parachute config unset git.ca_file; rm authority.pem")
    host.check_output("mv /etc/hosts.before /etc/hosts")


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
    agents.run(f"parachute sessions delete {events[-1]['sessionId']} --yes")
    assert events[-1]["sessionId"] not in agents.run(f"ls {views}")


def test_an_agent_clones_installs_compiles_commits_and_pushes(
    guest: Guest, agents: Agents, project: str, git_host: GitHost
) -> None:
    index = PackageIndex()
    tls = git_host.authority.server(NAME)
    with joined(guest.leader) as phone, phone.serving(index) as packages, phone.serving(git_host.serve, tls) as place:
        index.at(packages)
        repository = f"{NAME}:{place.rpartition(':')[2]}/owner/boat"
        clone = f"git clone --quiet https://{repository}.git lib 2>&1 && echo cloned"
        install = (
            f"python3 -m venv .venv && .venv/bin/pip install --quiet --trusted-host {PHONE} "
            f"--index-url http://{packages}/simple/ boat 2>&1 && .venv/bin/python -c 'import boat; print(boat.NAME)'"
        )
        agents.run(f"parachute workspaces create Boat --directory {project} --hosts {packages}")
        agents.run(f"printf {TOKEN} | parachute git token set {repository.partition('/')[0]}")
        try:
            first = agents.events(f"{clone}; {install}; curl -sS http://nobody.example 2>&1", workspaceId="boat")
            assert "This conversation may not fetch" in text_of(first)
            assert "Heron" in text_of(first)
            asked = {item["kind"]: item["id"] for item in json.loads(agents.run("parachute inbox --json"))["items"]}
            assert {"repository", "host"} <= set(asked)
            agents.run(f"parachute inbox answer {asked['host']} always --yes")
            agents.run(f"parachute git allow boat {repository} --push")
            work = (
                f"set -e; {clone}; {install}; echo 'int puts(const char *); int main(void) {{ puts(\"compiled\"); }}' > a.c; "
                "cc -o a a.c; ./a; cd lib; mv ../a.c .; git add a.c; "
                "git -c user.name=a -c user.email=a@a commit -qm Sail; git push --quiet origin HEAD:main 2>&1; echo pushed"
            )
            second = agents.events(work, first[-1]["sessionId"])
            assert text_of(second).split() == ["cloned", "Heron", "compiled", "pushed"], second
            assert git_host.log("owner/boat.git").startswith("Sail\n")
            assert agents.run(f"ls -A {project}/lib") == "a.c\nhello.txt"
            shown = json.loads(agents.run("parachute changes --json"))
            assert "lib/.git" in json.dumps(shown), "the repository further down is named"
        finally:
            agents.run("parachute workspaces delete boat --yes")


@pytest.fixture(scope="module")
def place(agents: Agents, views: str) -> Iterator[InContainers]:
    """One project for all examples."""
    made = InContainers(agents)
    yield made
    agents.run(f"rm -rf {made.project}")


@settings(max_examples=2)
@given(before=OWNERS, script=WORK, meanwhile=OWNERS)
def test_random_work_comes_back(place: InContainers, before: Owners, script: str, meanwhile: Owners) -> None:
    comes_back(place, before, script, meanwhile)


def test_the_maintenance_agent_writes_to_one_view_of_all_its_folders(agents: Agents, views: str) -> None:
    agents.run("cd ~/Parachute && mkdir -p Daily Brain/people && echo before | tee Daily/a > Brain/people/b")
    work = "(cd /vault; echo after > Daily/a; rm -r Brain/people; echo x > Brain/.envrc; touch Daily/new; echo done)"
    said = agents.run(f"parachute maintenance --json {shlex.quote(f'run: {work}')}")
    events = [json.loads(line) for line in said.splitlines()]
    assert text_of(events) == "done", events
    assert agents.run("cd ~/Parachute; cat Daily/a; ls -A Daily Brain") == "after\nBrain:\n\nDaily:\na\nnew"
    session = events[-1]["sessionId"]
    shown = json.loads(agents.run(f"parachute changes {session} --json"))
    assert "Brain/.envrc" in json.dumps(shown)
    agents.run(f"parachute undo {session}")
    assert agents.run("cd ~/Parachute; cat Daily/a Brain/people/b; ls -A Daily Brain") == (
        "before\nbefore\nBrain:\npeople\n\nDaily:\na"
    )
    agents.run(f"parachute sessions delete {session} --yes; rm -r ~/Parachute/Daily ~/Parachute/Brain")
    assert session not in agents.run(f"ls {views}")
