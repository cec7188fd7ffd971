"""The user manager enforces what a unit's directives say; the same probe without them shows that each attempt works."""

import json
from collections.abc import Iterator

import pytest
from testinfra.host import Host

from tests.appliance.recipe import ENVIRONMENT, SOURCE

VAULT = "/home/parachute/Vault"
DIRECTIVES = (
    "ProtectSystem=strict",
    "ProtectHome=tmpfs",
    f"BindPaths={VAULT}/Daily",
    f"BindReadOnlyPaths={VAULT}/Brain",
    "PrivateNetwork=yes",
    "PrivateTmp=yes",
    "NoNewPrivileges=yes",
    "RestrictAddressFamilies=AF_UNIX",
    "SystemCallFilter=@system-service",
    "MemoryDenyWriteExecute=yes",
)
ALLOWED = {"write the own folder", "read the other folder"}


@pytest.fixture
def probe(host: Host, user: Host) -> Iterator[str]:
    """The command of the probe, in a vault with something to find, beside a server that listens."""
    user.check_output(
        f"mkdir -p {VAULT}/Daily {VAULT}/Brain {VAULT}/Chat ~/.parachute && echo x > /tmp/of-others && "
        f"for file in {VAULT}/Brain/entity.md {VAULT}/Chat/secret.md ~/.parachute/keys.yaml; do echo x > $file; done"
    )
    host.check_output("install --directory --owner=parachute /srv/shared")
    user.check_output("systemd-run --user --quiet --unit=server --service-type=exec python3 -m http.server 4000")
    user.check_output("curl -s --retry 50 --retry-delay 0 --retry-all-errors --max-time 10 http://127.0.0.1:4000/")
    yield f"{ENVIRONMENT}/bin/python {SOURCE}/tests/appliance/probe.py {VAULT} 4000"
    user.check_output("systemctl --user stop server")
    host.check_output(f"rm -r {VAULT} /home/parachute/.parachute /tmp/of-others /srv/shared")


def test_a_user_service_is_confined_as_its_directives_say(user: Host, probe: str) -> None:
    free = json.loads(user.check_output(f"systemd-run --user --pipe --wait --collect --quiet {probe}"))
    assert free == dict.fromkeys(free, "done"), "without confinement everything works"
    user.check_output(f"rm {VAULT}/Daily/written {VAULT}/Brain/written /srv/shared/written")
    options = " ".join(f"--property={directive}" for directive in DIRECTIVES)
    held = json.loads(user.check_output(f"systemd-run --user --pipe --wait --collect --quiet {options} {probe}"))
    assert {name for name, outcome in held.items() if outcome == "done"} == ALLOWED, held
    assert held["call what is not in @system-service"] == "SIGSYS"
    # What it wrote is in the vault itself, not in a copy that goes away with the service.
    assert user.file(f"{VAULT}/Daily/written").exists
    assert not user.file(f"{VAULT}/Brain/written").exists
