"""A machine that gives services of a user no namespaces: the computer runs all the same, and says what that costs."""

import json
from collections.abc import Iterator

import pytest
from testinfra.host import Host

from tests.appliance.services import URL, Services

LIMIT = "user.max_user_namespaces"


@pytest.fixture
def without_namespaces(host: Host) -> Iterator[None]:
    """The kernel makes no user namespace meanwhile."""
    before = host.check_output(f"sysctl --values {LIMIT}")
    host.check_output(f"sysctl --write {LIMIT}=0")
    yield
    host.check_output(f"sysctl --write {LIMIT}={before}")


@pytest.mark.usefixtures("without_namespaces")
def test_services_are_installed_without_what_cannot_be_and_somebody_says_so(user: Host) -> None:
    computer = Services(user)
    try:
        installed = json.loads(computer.run("parachute service install --json"))
        assert "unconfined" in installed["not_held_back"]
        assert computer.run(f"curl -sf --max-time 60 {URL}/api/health")
        shown = computer.run("systemctl --user show parachute-supervisor --property=PrivateUsers,NoNewPrivileges")
        assert sorted(shown.splitlines()) == ["NoNewPrivileges=yes", "PrivateUsers=no"]
        computer.run("parachute modules new reading && parachute modules install ~/reading --yes")
        status, answer = computer.ask("/api/reading/notes")
        assert (status, answer["key"]) == (502, "module_down")
    finally:
        computer.run("parachute service uninstall; rm -rf ~/.parachute ~/Parachute ~/reading")
