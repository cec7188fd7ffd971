"""Agents in rootless Podman on a booted system: the image, a chat's container, and what an agent finds in it.

This machine's control groups are of the first kind, in which nothing in the guest can be limited: the setting says so, as
nobody else should.
"""

import json
import shlex
from typing import Any

import pytest
from testinfra.host import Host

from tests.appliance.agents import IMAGES, TARBALL, Agents
from tests.appliance.guest import Guest
from tests.appliance.phone import joined
from tests.appliance.recipe import ENVIRONMENT, SOURCE
from tests.appliance.services import URL
from tests.support.package_index import PackageIndex
from tests.support.sse import text_of


@pytest.fixture(scope="module")
def spare() -> str:
    """An agent is kept ready, as everybody has it."""
    return "true"


def test_without_an_image_there_is_a_reason(agents: Agents) -> None:
    agents.run("parachute config set sandbox.engine podman")
    found = json.loads(agents.run("parachute sandbox status --json"))
    assert (found["engine"], found["image"]) == (None, None)
    assert "parachute sandbox build" in found["reason"]
    agents.run("parachute config set sandbox.engine auto")
    found = json.loads(agents.run("parachute sandbox status --json"))
    assert found["engine"] == "bubblewrap"
    assert "parachute sandbox build" in found["reason"]


def test_the_image_is_built_tried_and_taken(agents: Agents, built: dict[str, Any]) -> None:
    found = json.loads(agents.run("parachute sandbox status --json"))
    assert (found["engine"], found["asked"]) == ("podman", "auto")
    assert found["image"] == {**built, "is_current": True}
    assert agents.run("podman images --quiet --no-trunc").split() == [f"sha256:{built['id']}"]
    assert agents.containers() == []
    assert agents.run("podman info --format '{{.Store.GraphDriverName}}'").strip() == "overlay"
    setuid = "find / -xdev -perm /6000 -type f; cat /etc/parachute-recipe"
    run = f"podman run --rm --network=none --pids-limit=0 --user=0 {built['id']} sh -c {shlex.quote(setuid)}"
    assert agents.run(run).split() == [built["recipe"]]


def test_limits_that_are_not_held_are_found_out(agents: Agents, built: dict[str, Any]) -> None:
    done = agents.user.run(f"PARACHUTE_SANDBOX__LIMITS=enforced parachute sandbox build --from-tar {TARBALL}")
    assert done.rc == 1
    assert "Podman may not be used here" in done.stderr
    found = json.loads(agents.run("parachute sandbox status --json"))
    assert (found["engine"], found["image"]["id"]) == ("podman", built["id"]), found
    assert agents.run("podman images --all --quiet --no-trunc").split() == [f"sha256:{built['id']}"]


@pytest.mark.usefixtures("built")
def test_what_an_agent_finds(agents: Agents) -> None:
    agents.run("mkdir -p ~/Parachute/Daily ~/Parachute/.hidden && echo secret > ~/Parachute/.hidden/secret")
    said = agents.output(
        "id; ls -a /vault; cat /proc/1/environ; curl -s example.com; curl --noproxy '*' example.com; hostname"
    )
    assert "uid=1000(agent) gid=1000(agent)" in said
    assert "Daily" in said
    assert "/proc/1/environ: Permission denied" in said
    assert "example.com is not allowed yet. The owner has been asked" in said
    assert "Could not resolve host: example.com" in said
    assert "hidden" not in said
    assert ".parachute" not in said
    assert ".claude" not in said
    assert "parachute\n" in f"{said}\n", "its own host name"


@pytest.mark.usefixtures("built")
def test_packages_come_from_an_index_that_was_allowed_and_a_program_is_compiled(guest: Guest, agents: Agents) -> None:
    agents.run("mkdir -p ~/Parachute/Projects/boat")
    index = PackageIndex()
    with joined(guest.leader) as phone, phone.serving(index) as address:
        index.at(address)
        create = (
            f"parachute workspaces create Boat --directory ~/Parachute/Projects/boat --network list --hosts {address}"
        )
        agents.run(create)
        try:
            said = agents.output(
                f"set -e; exec 2>&1; python3 -m venv .venv; .venv/bin/pip install --quiet --index-url http://{address}/simple/ "
                f"--trusted-host {address.partition(':')[0]} boat; .venv/bin/python -c 'import boat; print(boat.NAME)'; "
                f"npm init --yes > npm.log; npm install --registry http://{address}/ boat >> npm.log; "
                "node -p 'require(\"boat\")'; "
                "echo 'int puts(const char *); int main(void) { puts(\"compiled\"); }' > a.c; cc -o a a.c; ./a; ls -d /cache/npm",
                workspaceId="boat",
            )
        finally:
            agents.run("parachute workspaces delete boat --yes")
    assert said.split() == ["Heron", "Heron", "compiled", "/cache/npm"], said
    assert {"/simple/boat/", "/boat"} <= set(index.asked)
    assert agents.run("ls ~/.parachute/caches/*/npm/_cacache") != "", "on the disk of this computer"


@pytest.mark.usefixtures("built")
def test_a_file_in_a_project_belongs_to_the_user(agents: Agents) -> None:
    agents.run("mkdir -p ~/Parachute/Projects/one ~/Parachute/Projects/two")
    said = agents.output(
        "pwd; echo made > made; touch ../two/file; touch ~/Parachute; ls /home",
        workingDirectory=f"{agents.home}/Parachute/Projects/one",
    )
    assert said.startswith("/vault/Projects/one\n")
    assert "../two/file': Read-only file system" in said
    assert agents.run("stat --format '%U %G' ~/Parachute/Projects/one/made").split() == ["parachute", "parachute"]
    assert agents.run("ls ~/Parachute/Projects/two") == ""


@pytest.mark.usefixtures("built")
def test_a_container_is_the_services_and_ends_with_it(host: Host, agents: Agents) -> None:
    events = agents.say("setsid tail -f /dev/null > /dev/null 2>&1 & mount | grep ' / '")
    session = events[-1]["sessionId"]
    assert "(ro," in text_of(events)
    (name,) = agents.containers(session)
    installation = agents.run("podman ps --format '{{.Labels}}'")
    assert name.split("-")[1] in installation
    assert host.run("pgrep --full '^[t]ail -f /dev/null'").rc == 0
    unit = f"parachute-sandbox@{session}.service"
    processes = agents.run(f"systemctl --user status {unit} --no-pager")
    assert "parachute_runner/runner.py" in processes, "the container is in the unit's control group"
    agents.run(f"systemctl --user stop {unit} parachute-sandbox@{session}.socket")
    assert agents.containers(session) == []
    assert host.run(f"pgrep --full '[r]unner.py .*{session}'").rc == 1
    assert host.run("pgrep --full '^[t]ail -f /dev/null'").rc == 1


@pytest.mark.usefixtures("built")
def test_a_container_that_was_killed_is_started_again_by_the_next_message(agents: Agents) -> None:
    session = agents.say("echo first")[-1]["sessionId"]
    (name,) = agents.containers(session)
    agents.run(f"podman kill {name}")
    assert text_of(agents.say("echo second", session)) == "second"
    assert agents.containers(session) == [name]


@pytest.mark.usefixtures("built")
def test_what_a_killed_core_leaves_is_ended_by_the_next(agents: Agents) -> None:
    session = agents.say("echo first")[-1]["sessionId"]
    (name,) = agents.containers(session)
    before = agents.run(f"podman inspect --format '{{{{.Id}}}}' {name}")
    agents.kill_core()
    agents.until(lambda: agents.containers(session) == [], "the container was ended")
    assert text_of(agents.say("echo second", session)) == "second"
    assert agents.run(f"podman inspect --format '{{{{.Id}}}}' {name}") != before


def test_what_is_left_of_this_installation_goes_and_of_others_stays(agents: Agents, built: dict[str, Any]) -> None:
    agents.say("echo first")
    (label,) = set(agents.run("podman ps --format '{{.Labels}}' | grep -o 'org.parachute.installation:[^] ]*'").split())
    name, _, own = label.partition(":")
    run = "podman run --detach --rm --network=none --pids-limit=0 --pull=never"
    for installation in (own, "another"):
        labelled = f"--label={name}={installation} --name=parachute-{installation}-left"
        agents.run(f"{run} {labelled} {built['id']} sleep 3600")
    agents.kill_core()
    agents.until(lambda: agents.user.run(f"curl -sf {URL}/api/health").rc == 0, "core is back")
    try:
        agents.say("echo second")
        left = agents.containers("left")
    finally:
        agents.run("podman rm --force --time=0 --filter label=org.parachute.installation=another")
    assert left == ["parachute-another-left"]


@pytest.mark.usefixtures("built")
def test_a_container_that_fails_again_and_again_is_given_up_and_says_why(agents: Agents, user: Host) -> None:
    session = agents.say("echo first")[-1]["sessionId"]
    agents.run(f"systemctl --user stop parachute-sandbox@{session}.service")
    agents.run(f"mv {IMAGES} /tmp/hidden")
    try:
        end = agents.events("echo second", session)[-1]
    finally:
        agents.run(f"mv /tmp/hidden {IMAGES}")
    assert end["type"] == "typed_error"
    assert "ended with status 125. It failed 3 times in five minutes" in end["message"]
    assert "The image for containers is gone; `parachute sandbox build` makes it again." in end["message"]
    assert text_of(agents.say("echo third", session)) == "third"


@pytest.mark.usefixtures("built")
def test_the_offline_model_answers_from_a_container(agents: Agents) -> None:
    agents.run("parachute config set provider offline && parachute config unset model")
    agents.restart_core()
    try:
        events = agents.answered("What is a journal good for?")
        assert events[-1]["type"] == "done", events[-1]
        assert agents.run("systemctl --user is-active parachute-model.service") == "active"
        assert agents.containers(events[-1]["sessionId"]) != []
    finally:
        agents.run("parachute config set provider compatible && parachute config set model claude-opus-5-5")
        agents.restart_core()
    assert len(text_of(events)) > 20


@pytest.mark.usefixtures("built")
def test_a_shell_is_shut_in_the_same(agents: Agents) -> None:
    # One stream: of two nobody knows which comes first.
    script = "exec 2>&1; id -u; ls /sys/class/net; touch /vault/x; echo x > /tmp/x; cat /tmp/x"
    said = agents.run(f"echo {shlex.quote(script)} | parachute sandbox shell")
    assert said.split("\n")[:2] == ["1000", "lo"]
    assert "cannot touch '/vault/x': Read-only file system" in said
    assert said.strip().endswith("x")


@pytest.mark.usefixtures("built")
def test_a_folder_that_was_exchanged_meanwhile_is_noticed(agents: Agents) -> None:
    command = f"cd {SOURCE} && {ENVIRONMENT}/bin/python -m tests.appliance.racing"
    ended = json.loads(agents.run(command))
    assert ended["undisturbed"]["read"] == "a note"
    assert ended["exchanged"]["read"] == ""
    assert "/project is not what was to be mounted there" in ended["exchanged"]["said"]


@pytest.mark.usefixtures("built")
def test_a_container_is_what_was_asked_and_a_change_is_found(agents: Agents) -> None:
    agents.run("mkdir -p ~/Parachute/Projects/explained")
    project = f"{agents.home}/Parachute/Projects/explained"
    session = agents.say("echo up", workingDirectory=project)[-1]["sessionId"]
    explain = f"parachute sandbox explain {session}"
    found = json.loads(agents.run(f"{explain} --json"))
    assert [row["problem"] for row in found["rows"] if row["differs"]] == []
    rows = {row["name"]: row for row in found["rows"]}
    assert (found["engine"], rows["network"]["engine"], rows["network"]["inside"]) == ("podman", "none", "lo")
    assert rows["/vault/Projects/explained"]["engine"] == "rw"
    assert rows["/vault/Projects/explained"]["inside"] == "rw, writing: done"
    assert agents.run(f"find {project} -name '*look*'") == ""
    kept = f"~/.parachute/sandboxes/{session}.json"
    agents.run(f'cp {kept} kept.json && sed -i \'s/"writable": *true/"writable":false/\' {kept}')
    changed = agents.user.run(explain)
    agents.run(f"mv kept.json {kept}")
    assert changed.rc == 1
    assert "the file says otherwise: mounts" in changed.stderr
    agents.run(f"podman stop --time 0 {agents.containers(session)[0]}")
    assert json.loads(agents.run(f"{explain} --json"))["differs"] is False, "it was started for the look"


@pytest.mark.usefixtures("built")
def test_a_container_with_a_network_is_found(agents: Agents) -> None:
    found = json.loads(agents.run(f"cd {SOURCE} && {ENVIRONMENT}/bin/python -m tests.appliance.inspect_containers"))
    differing = {name: {row["name"] for row in each["rows"] if row["differs"]} for name, each in found.items()}
    assert differing["undisturbed"] == differing["bubblewrap"] == set()
    assert differing["networked"] >= {"network", "namespaces", "127.0.0.1 of this machine"}
