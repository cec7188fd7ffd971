"""The official modules as services: installed by one command, asleep while nobody asks, and of use to each other."""

import json
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from testinfra.host import Host

from tests.appliance.services import Services, service

ENTRY = "Met with Kevin about the LVB curriculum. He suggested we add a module on prompt engineering."
MEMORY = {"brain": 256, "daily": 512, "chat": 128, "imports": 320}
# No route shows what is still on its way to a module.
WAITING = (
    'python3 -c \'import pathlib, sqlite3; file = pathlib.Path.home() / "Parachute/.parachute/events.db"; '
    'print(*sqlite3.connect(file).execute("SELECT count(*) FROM deliveries").fetchone(), end="")\''
)
FOLDERS = {"brain": "Brain", "daily": "Daily", "chat": "Chat"}


@pytest.fixture(scope="module")
def computer(user: Host) -> Iterator[Services]:
    """A computer that runs as services, with the official modules."""
    computer = Services(user)
    computer.run("parachute service install")
    computer.run("parachute setup --yes")
    yield computer
    computer.run("parachute service uninstall")
    assert user.run("pgrep --full [p]arachute.host").rc == 1
    computer.run("rm -rf ~/.parachute ~/Parachute")


def test_each_is_a_service_that_has_what_its_consent_says(computer: Services) -> None:
    for name, mebibytes in MEMORY.items():
        assert computer.run(f"systemctl --user is-active parachute-module@{name}.socket") == "active"
        shown = computer.show(
            name, "MemoryMax", "PrivateNetwork", "ProtectHome", "RestrictAddressFamilies", "BindPaths"
        )
        bound = {bind.partition(":")[0] for bind in shown.pop("BindPaths").split()}
        folders = {f"{computer.home}/Parachute/{FOLDERS[name]}"} if name in FOLDERS else set()
        assert bound == folders | {f"{computer.home}/.parachute/module-data/{name}"}
        assert shown == {
            "MemoryMax": str(mebibytes << 20),
            "PrivateNetwork": "yes",
            "ProtectHome": "tmpfs",
            "RestrictAddressFamilies": "AF_UNIX",
        }
    said = computer.run("parachute setup --yes 2>&1")
    assert said.count("is installed already") == len(MEMORY)


def test_an_entry_wakes_whom_it_concerns(computer: Services) -> None:
    people = {"entity_type": "person", "data": {"name": "Kevin"}}
    projects = {"entity_type": "project", "data": {"name": "Learn Vibe Build", "aliases": ["LVB"]}}
    known = set()
    for body in (people, projects):
        status, made = computer.ask("/api/brain/entities", body)
        assert status == 201, made
        known.add(made["para_id"])
    for name in MEMORY:
        computer.put_to_sleep(name)
    entry = json.loads(computer.run(f"parachute daily add '{ENTRY}' --json"))
    path = f"/api/daily/entries/{quote(entry['id'], safe='')}"
    computer.until(lambda: set(computer.get(path)["mentions"]) == known, "the entry was linked")
    computer.until(lambda: computer.run(WAITING) == "0", "every event was taken")
    (proposed,) = json.loads(computer.run("parachute suggestions list --json"))
    assert (proposed["target_module"], proposed["payload"]["name"]) == ("brain", "prompt engineering")
    assert "prompt engineering" in computer.run("parachute suggestions list")
    assert ENTRY in computer.run("parachute daily today")
    assert ENTRY in computer.run("parachute daily search curriculum")
    assert "learn-vibe-build.md" in computer.run("parachute brain search vibe")
    units = computer.run(f"systemctl --user is-active {service('brain')} {service('daily')}")
    assert units.split() == ["active", "active"]


@pytest.mark.parametrize(
    ("name", "path"), [("daily", "/api/daily/today"), ("brain", "/api/brain/types"), ("chat", "/api/para/%s")]
)
def test_asleep_it_needs_nothing_and_the_next_request_wakes_it(computer: Services, name: str, path: str) -> None:
    computer.put_to_sleep(name)
    assert computer.process(name) == "0"
    assert computer.show(name, "Result")["Result"] == "success"
    assert computer.status(name) == "asleep"
    computer.ask(path.replace("%s", f"para:{name}:a1b2c3d4e5f6"))
    assert computer.process(name) != "0"
    assert computer.status(name) == "running"
