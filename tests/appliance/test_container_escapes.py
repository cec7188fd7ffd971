"""The table of attempts in a container of a chat, each with the proof that the same attempt succeeds outside."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from testinfra.host import Host

from tests.appliance.agents import MODEL, Agents, with_views
from tests.appliance.recipe import ENVIRONMENT, SOURCE
from tests.sandbox.engines.escapes import rows
from tests.support.sse import text_of

IMPOSSIBLE = {
    # It has no network.
    "have a way out of its network",
    "see the machine's network interfaces",
    # systemd-nspawn does not let anybody, and an overlay has no handles.
    "enter the namespaces of another process",
    "open a file by its handle",
}


@dataclass
class Planted:
    """A computer with something to get at, and the rows of what it lacks."""

    agents: Agents
    absent: list[str]


@pytest.fixture
def planted(agents: Agents, built: dict[str, Any]) -> Iterator[Planted]:
    """The files that `planting` makes, removed afterwards."""
    with agents.serving("planting", "tests.sandbox.engines.escapes.planting", agents.home) as absent:
        yield Planted(agents, json.loads(absent))
    gone = agents.user.run(f"test -e {agents.home}/Parachute/Attempts").rc == 1
    assert gone, agents.run("journalctl --user --no-pager --lines=40 --unit=planting")


@pytest.fixture
def impossible() -> set[str]:
    """Attempts that fail on this system everywhere, also outside of a sandbox."""
    return IMPOSSIBLE


@pytest.fixture(params=["live", "view"])
def project_mount(request: pytest.FixtureRequest, host: Host, agents: Agents, built: dict[str, Any]) -> Iterator[str]:
    """Mount of the agents' project: the folder itself, as where there are no views, or a view of it."""
    if request.param == "live":
        agents.run("parachute config set changes.apply live")
        agents.restart_core()
        yield "live"
        agents.run("parachute config unset changes.apply")
        agents.restart_core()
        return
    with with_views(host, agents.home):
        agents.restart_core()
        yield "view"
    agents.restart_core()


def check_mount(agents: Agents, project: str, kind: str) -> None:
    """See that agents have what the tests are about."""
    session = agents.say("true", workingDirectory=project)[-1]["sessionId"]
    found = agents.user.run(f"ls {agents.home}/.parachute/views/{session}")
    assert (found.rc == 0) == (kind == "view"), found.stderr


def test_every_attempt_is_refused_and_succeeds_outside(
    project_mount: str, planted: Planted, host: Host, impossible: set[str]
) -> None:
    computer = planted.agents
    project = f"{computer.home}/Parachute/Projects/one"
    check_mount(computer, project, project_mount)
    said = computer.output(f"python3 {' '.join(rows.INSIDE)} > found.json && echo tried", workingDirectory=project)
    assert said.strip() == "tried"
    found = computer.run(f"cat {project}/found.json; rm {project}/found.json")
    control = f"cd {project} && python3 {' '.join(rows.outside(f'{computer.home}/Parachute'))}"
    as_user, as_root = computer.run(control), host.check_output(control)
    impossible = impossible.union(planted.absent)
    assert rows.not_refused(found) == {}
    assert rows.not_through(as_user, ("same",), impossible) == {}
    assert rows.not_through(as_root, ("root",), impossible) == {}


def test_what_runs_later_outside_cannot_be_written(agents: Agents, project_mount: str) -> None:
    project, attacks = f"{agents.home}/Parachute/Projects/guarded", f"{agents.home}/Parachute/Attacks"
    protected = f"cd {SOURCE} && {ENVIRONMENT}/bin/python -m tests.sandbox.engines.escapes.protected"
    agents.run(f"mkdir -p {project} {attacks} && {protected} attacks > {attacks}/lines")
    before = json.loads(agents.run(f"{protected} make {project}"))
    assert len(before) > 5
    script = 'while IFS= read -r line; do sh -c "$line" < /dev/null; done < /vault/Attacks/lines; echo x > own\n'
    agents.run(f"printf %s {shlex.quote(script)} > {attacks}/all.sh")
    check_mount(agents, project, project_mount)
    # In a view, what it may not write waits.
    events = agents.events("sh /vault/Attacks/all.sh > /dev/null 2>&1; true", workingDirectory=project)
    assert events[-1]["type"] == "done", events[-1]
    assert agents.run(f"cat {project}/own") == "x", "it could write, and got to the end"
    assert json.loads(agents.run(f"{protected} watch {project}")) == before
    # The control: outside they change it.
    agents.run(
        f"cd {project} && sh -c {shlex.quote(script.replace('/vault/', f'{agents.home}/Parachute/'))} 2>&1; true"
    )
    assert json.loads(agents.run(f"{protected} watch {project}")) != before
    agents.run(f"rm -rf {project} {attacks}")


def test_the_models_socket_is_for_answers_only(agents: Agents, built: dict[str, Any]) -> None:
    folder = f"{agents.home}/Parachute/Attempts"
    agents.run(f"mkdir {folder} && cp {SOURCE}/tests/sandbox/engines/escapes/attempts/model.py {folder}")
    # Where the settings name a model, that one answers whatever an agent names.
    agents.run("parachute config unset model && parachute config set allowed_models '[\"claude-*\"]'")
    agents.restart_core()
    try:
        said = agents.output("python3 -ISB /vault/Attempts/model.py claude-opus-5-5 gpt-9")
    finally:
        agents.run(f"rm -r {folder}; parachute config unset allowed_models; parachute config set model {MODEL}")
        agents.restart_core()
    answers = json.loads(said)
    assert answers.pop("a question") == 200
    assert answers.pop("another model") == 403
    assert answers.pop("without a token") == 401
    assert set(answers.values()) <= {400, 404}, answers


def test_containers_of_another_installation_are_left_alone(agents: Agents, built: dict[str, Any]) -> None:
    session = agents.say("echo first")[-1]["sessionId"]
    own = agents.containers(session)[0]
    other = f"parachute-000000000000-{session}"
    label = "org.parachute.installation=000000000000"
    run = f"podman run --detach --name={other} --label={label} --network=none --pids-limit=0 {built['id']} sleep 1000"
    agents.run(run)
    try:
        assert agents.say("echo second", session)[-1]["type"] == "done"
        agents.kill_core()
        running = "podman ps --format '{{.Names}}'"
        agents.until(lambda: own not in agents.run(running).split(), "the next core has ended what was ours")
        assert agents.say("echo third", session)[-1]["type"] == "done"
        assert agents.run(f"podman inspect --format '{{{{.State.Status}}}}' {other}") == "running"
    finally:
        agents.run(f"podman rm --force --time=0 {other}")


def test_nothing_outlives_a_turn_that_was_stopped(agents: Agents, host: Host, built: dict[str, Any]) -> None:
    session, wait = str(agents.say("echo first")[-1]["sessionId"]), "tail -s 86399 -f /dev/null"
    left = f"(setsid {wait} &); sh -c 'setsid sh -c \"{wait} & exec true\" & exec true' > /dev/null 2>&1; {wait}"
    running = "pgrep --exact --full 'tail -s 86399 -f /dev/null' | wc -l"
    with agents.working(left, session) as events:
        agents.until(lambda: host.check_output(running) == "3", "it waits")
        assert agents.ask(f"/api/chat/{session}/abort", {})[0] == 200
        assert events()[-1]["type"] == "aborted"
    agents.until(lambda: host.check_output(running) == "0", "all of it has ended")
    assert text_of(agents.say("echo second", session)) == "second"
