"""A full disk, below the vault, below the computer's own folder, and below both: said in a sentence, and it harms nothing."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from testinfra.host import Host

from tests.appliance.agents import Agents
from tests.appliance.recipe import ENVIRONMENT, SOURCE, USER_ID
from tests.appliance.services import service
from tests.support.sse import text_of

SOUND = f"{ENVIRONMENT}/bin/python {SOURCE}/tests/appliance/soundness.py ~/.parachute ~/Parachute"
SIZES = {"Parachute": "24m", ".parachute": "64m"}
LONG = "Nobody has room for these words. " * 400
FULL = ("No space left on device", "disk is full")
READ = ("/api/daily/entries", "/api/brain/entities", "/api/chat", "/api/workspaces")


@pytest.fixture(scope="module")
def computer(host: Host, user: Host) -> Iterator[Agents]:
    """A computer with the three modules, on two small disks."""
    computer = Agents(user)
    for name, size in SIZES.items():
        computer.run(f"mkdir -m 700 ~/{name}")
        options = f"uid={USER_ID},gid={USER_ID},mode=700,size={size}"
        host.check_output(f"mount -t tmpfs -o {options} tmpfs {computer.home}/{name}")
    with computer.with_model(sandbox__required="true"):
        computer.run("parachute service install && parachute setup --yes")
        yield computer
    for name in SIZES:
        host.check_output(f"umount --lazy {computer.home}/{name} && rmdir {computer.home}/{name}")


@pytest.mark.parametrize("full", [("Parachute",), (".parachute",), ("Parachute", ".parachute")], ids=" ".join)
def test_what_does_not_fit_is_refused_and_the_rest_goes_on(computer: Agents, full: tuple[str, ...]) -> None:
    session = str(computer.say("echo before")[-1]["sessionId"])
    write(computer, f"Before {full}")
    core = computer.run("systemctl --user show parachute-core --property=MainPID --value")
    before = {path: computer.get(path) for path in READ}
    for name in full:
        assert computer.user.run(f"head -c 100M /dev/zero > ~/{name}/fill").rc != 0
    try:
        assert computer.get("/api/health")["status"] == "ok"
        assert {path: computer.get(path) for path in READ} == before
        if "Parachute" in full:
            refused(computer.ask("/api/daily/entries", {"content": LONG}))
            refused(computer.ask("/api/brain/entities", {"entity_type": "person", "data": {"name": "Nobody"}}))
            refused(computer.ask("/api/chat", {"message": "run: echo new", "sessionId": "new", "module": "chat"}))
            said = computer.events("echo more", session)[-1]
            assert said["type"] == "typed_error"
            assert "The disk is full" in said["message"]
            assert (said["title"], said["canRetry"]) == ("The computer cannot go on", True)
            assert {path: computer.get(path) for path in READ} == before
        if ".parachute" in full:
            done = computer.user.run("parachute config set daily_spending_limit 7")
            assert (done.rc, done.stdout) == (1, "")
            assert done.stderr.startswith("Error: The disk is full")
        # A module that has to be started meanwhile starts, and reads.
        computer.put_to_sleep("daily")
        assert computer.get("/api/daily/entries") == before["/api/daily/entries"]
        assert computer.run(f"systemctl --user is-active {service('daily')}") == "active"
    finally:
        for name in full:
            computer.run(f"rm ~/{name}/fill")
    write(computer, f"After {full}")
    assert text_of(computer.say("echo after", session)) == "after"
    computer.say("echo new")
    computer.run("parachute config set daily_spending_limit 8")
    assert computer.run("systemctl --user show parachute-core --property=MainPID --value") == core, "without a restart"
    found = json.loads(computer.run(SOUND))
    assert found["damaged"] == {}
    assert found["databases"] > 5


def write(computer: Agents, text: str) -> None:
    """Write an entry that has to be taken, and see that it is there."""
    status, made = computer.ask("/api/daily/entries", {"content": text})
    assert status == 200, made
    assert made in computer.get("/api/daily/entries")["entries"]


def refused(answer: tuple[int, Any]) -> None:
    """See that it is the disk, in a sentence."""
    status, said = answer
    assert (status, said["key"]) == (507, "disk_full"), said
    assert any(words in said["detail"] for words in FULL), said
    assert said["detail"].endswith(".")
