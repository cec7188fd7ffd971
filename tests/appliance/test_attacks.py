"""The attacks of tests/attacks/ that systemd and Podman could make different, on a computer that runs as services."""

import json
import shlex
from collections.abc import Iterator

import pytest
from testinfra.host import Host

from tests.appliance.agents import Agents
from tests.appliance.services import RUNTIME, URL
from tests.support.sse import text_of

pytestmark = pytest.mark.usefixtures("built")

CORE = "parachute-core.service"
HALF_REQUESTS = 1500
WATCHDOG_SECONDS = 8
OTHERS = (65534, 1234)
"""Users of the guest who are not the owner; the first is what a namespace of users shows of all whom it does not know."""
BROKEN = "#!/bin/sh\necho 'setting up uid map: Permission denied' >&2\nexit 1\n"


def core(computer: Agents, name: str) -> str:
    """A property of core's service."""
    return computer.run(f"systemctl --user show {CORE} --property={name} --value")


def test_a_link_in_place_of_the_transcripts_is_not_mounted_into_a_container(agents: Agents) -> None:
    """S1: core refuses it, and so does the launcher, for which it may come later than for core."""
    session = str(agents.say("echo first")[-1]["sessionId"])
    folder, unit = (
        f"{agents.home}/Parachute/.claude/projects/-scratch-{session}",
        f"parachute-sandbox@{session}.service",
    )
    listing = "ls -a ~/.claude/projects/*; touch ~/.claude/projects/*/new"
    agents.run(f"systemctl --user stop {unit}")
    agents.until(lambda: agents.containers(session) == [], "its container has ended")
    before = agents.run("stat --format=%a ~; ls -a ~")
    agents.run(f"mv {folder} {folder}-moved && ln -s {agents.home} {folder}")
    try:
        agents.user.run(f"systemctl --user start {unit}")
        refusal = f"{folder} cannot be given to an agent: "
        agents.until(lambda: refusal in agents.run("cat ~/.parachute/logs/sandbox.log"), "the launcher has refused")
        refused = agents.events(listing, session)
        assert (refused[-1]["type"], refused[-1]["key"]) == ("typed_error", "not_a_folder"), refused
        assert text_of(refused) == ""
        assert agents.containers(session) == []
        assert agents.run("stat --format=%a ~; ls -a ~") == before
    finally:
        agents.run(f"rm {folder} && mv {folder}-moved {folder}")
    agents.user.run(f"systemctl --user reset-failed {unit}")
    agents.restart_core()
    agents.say("echo again", session)
    assert len(agents.containers(session)) == 1, "the control: a folder is"


@pytest.mark.parametrize("uid", OTHERS)
def test_another_user_of_the_machine_needs_a_key(agents: Agents, host: Host, uid: int) -> None:
    """S4: core reads whose a connection is from within a namespace of users of its own."""
    become = f"setpriv --reuid={uid} --regid={uid} --clear-groups"
    ask = "curl -s --max-time 120 --write-out '\\n%{http_code}'"
    for path in ("/api/chat", "/api/auth/keys"):
        body, _, status = host.check_output(f"{become} {ask} {URL}{path}").rpartition("\n")
        assert (status, json.loads(body)["key"]) == ("401", "key_needed")
        assert agents.ask(path)[0] == 200


def test_half_sent_requests_neither_stop_core_nor_have_it_ended_by_its_watchdog(agents: Agents) -> None:
    """F1, S6."""
    drop_in = f"{RUNTIME}/{CORE}.d"
    sooner = f"[Service]\nWatchdogSec={WATCHDOG_SECONDS}\n"
    agents.run(f"mkdir -p {drop_in} && printf %s {shlex.quote(sooner)} > {drop_in}/90-sooner.conf")
    agents.run("systemctl --user daemon-reload")
    agents.restart_core()
    try:
        process = core(agents, "MainPID")
        assert core(agents, "LimitNOFILE") == "65536"
        # No user's service gets more than the machine gives to its user.
        allowed = agents.run(f"prlimit --pid {process} --nofile --noheadings --raw --output SOFT,HARD").split()
        assert int(allowed[0]) == int(allowed[1]) > 2 * HALF_REQUESTS
        with agents.serving("stranger", "tests.appliance.half_requests", "3333", str(HALF_REQUESTS)):
            began = int(core(agents, "WatchdogTimestampMonotonic"))
            enough = began + 2 * WATCHDOG_SECONDS * 1_000_000
            agents.until(lambda: int(core(agents, "WatchdogTimestampMonotonic")) > enough, "it said that it lives")
            assert agents.get("/api/health")["status"] == "ok"
        assert (core(agents, "MainPID"), core(agents, "NRestarts")) == (process, "0")
        assert text_of(agents.say("echo after")) == "after"
    finally:
        agents.run(f"rm -r {drop_in} && systemctl --user daemon-reload")
        agents.restart_core()


def test_no_script_of_the_vault_is_run_by_a_direct_session(agents: Agents) -> None:
    """S9."""
    session = str(agents.say("echo first", trustLevel="direct")[-1]["sessionId"])
    folder, escaped = f"{agents.home}/Parachute/.claude/session-env/{session}", f"{agents.home}/escaped"
    kinds = ("setup", "sessionstart", "cwdchanged", "filechanged")
    plant = f"for kind in {' '.join(kinds)}; do echo touch {escaped} > {folder}/$kind-hook-0.sh; done"
    agents.run(f"mkdir -p {folder} && {plant}")
    try:
        for _ in range(2):
            assert text_of(agents.say("echo worked", session)) == "worked"
            assert agents.user.run(f"test -e {escaped}").rc == 1
            agents.restart_core()
    finally:
        agents.run(f"rm -rf {folder} {escaped}")


@pytest.fixture
def broken_engines(agents: Agents, host: Host) -> Iterator[None]:
    """Podman and bubblewrap fail, and a sandbox is not required."""
    programs = ("/usr/bin/podman", "/usr/bin/bwrap")
    host.check_output(f"printf %s {shlex.quote(BROKEN)} > /srv/broken && chmod 755 /srv/broken")
    agents.run("parachute config set sandbox.required false")
    agents.run("systemctl --user stop 'parachute-sandbox@*'")
    for program in programs:
        host.check_output(f"mount --bind /srv/broken {program}")
    agents.restart_core()
    yield
    for program in programs:
        host.check_output(f"umount {program}")
    agents.run("parachute config set sandbox.required true")
    agents.restart_core()
    host.check_output("rm /srv/broken")


@pytest.mark.usefixtures("broken_engines")
def test_where_no_engine_works_nothing_runs_for_a_key_that_may_chat(agents: Agents) -> None:
    """S2."""
    key = json.loads(agents.run("parachute keys create phone --scope chat:read,write --json"))["key"]
    escaped = f"{agents.home}/escaped"
    body = json.dumps({"message": f"run: touch {escaped}", "sessionId": "new", "module": "chat"})
    options = ("-H", "content-type: application/json", "-d", body)
    worked = "~/.parachute/sandbox-worked"
    try:
        # Where one has worked before, not even the owner goes without.
        assert agents.streamed("/api/chat", *options)[-1]["key"] == "no_sandbox"
        agents.run(f"rm {worked}")
        said = agents.streamed("/api/chat", *options, "-H", f"x-api-key: {key}")[-1]
        assert (said["type"], said["key"]) == ("typed_error", "no_sandbox")
        assert agents.user.run(f"test -e {escaped}").rc == 1
        events = agents.streamed("/api/chat", *options)
        assert [event["title"] for event in events if event["type"] == "warning"][:1] == ["No sandbox"]
        assert agents.user.run(f"test -e {escaped}").rc == 0, "the control: it ran with the owner's rights"
    finally:
        agents.run(f"rm -f {escaped} && parachute keys revoke phone --yes; true")
