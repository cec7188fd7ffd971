"""The user manager enforces what a unit's directives say; the same probe without them shows that each attempt works."""

import json
import shlex
from collections.abc import Iterator

import pytest
from testinfra.host import Host

from tests.appliance.recipe import ENVIRONMENT, SOURCE

VAULT = "/home/parachute/Vault"
VAULT_ELSEWHERE = "/srv/disk/Vault"
UNITS = "/run/user/1000/systemd/user"
RESULT = "/srv/shared/result.json"
PLAIN = f"""[Service]
ProtectSystem=strict
ProtectHome=tmpfs
BindPaths={VAULT}/Daily
BindReadOnlyPaths={VAULT}/Brain
PrivateNetwork=yes
PrivateTmp=yes
NoNewPrivileges=yes
RestrictAddressFamilies=AF_UNIX
SystemCallFilter=@system-service
MemoryDenyWriteExecute=yes
"""
RENDERED = """
import sys
from pathlib import Path
from parachute.supervisor.models import Confinement
from parachute.supervisor.systemd.rendering import confine

vault = Path(sys.argv[1])
asked = Confinement(
    read=(vault / "Brain",), write=(vault / "Daily",), hide=(vault,), memory_bytes=256 << 20, processes=64
)
sys.stdout.write(confine(asked, notifies=True))
"""
ALLOWED = {"write the own folder", "read the other folder"}


@pytest.fixture
def probe(host: Host, user: Host, vault: str) -> Iterator[None]:
    """`probe.service`, a vault with something to find, and a server that listens."""
    host.check_output("install --directory --owner=parachute /srv/shared /srv/disk")
    user.check_output(
        f"mkdir -p {vault}/Daily {vault}/Brain {vault}/Chat ~/.parachute && echo x > /tmp/of-others && "
        f"for file in {vault}/Brain/entity.md {vault}/Chat/secret.md ~/.parachute/keys.yaml; do echo x > $file; done"
    )
    user.check_output("systemd-run --user --quiet --unit=server --service-type=exec python3 -m http.server 4000")
    user.check_output("curl -s --retry 50 --retry-delay 0 --retry-all-errors --max-time 10 http://127.0.0.1:4000/")
    command = f"{ENVIRONMENT}/bin/python {SOURCE}/tests/appliance/probe.py {vault} 4000"
    unit = f"[Service]\nType=oneshot\nExecStart={command}\nStandardOutput=truncate:{RESULT}\n"
    user.check_output(f"mkdir -p {UNITS}/probe.service.d && echo {shlex.quote(unit)} > {UNITS}/probe.service")
    yield
    user.check_output(f"systemctl --user stop server; rm -r {UNITS}/probe.service*; systemctl --user daemon-reload")
    host.check_output(f"rm -r {vault} /home/parachute/.parachute /tmp/of-others /srv/shared /srv/disk")


def outcomes(user: Host, directives: str) -> dict[str, str]:
    """The outcome of the probe's attempts under these directives."""
    user.check_output(f"echo {shlex.quote(directives)} > {UNITS}/probe.service.d/confinement.conf")
    user.check_output("systemctl --user daemon-reload && systemctl --user start probe")
    found: dict[str, str] = json.loads(user.check_output(f"cat {RESULT}"))
    return found


@pytest.mark.usefixtures("probe")
@pytest.mark.parametrize(("kind", "vault"), [("plain", VAULT), ("rendered", VAULT), ("rendered", VAULT_ELSEWHERE)])
def test_a_user_service_is_confined_as_its_directives_say(user: Host, kind: str, vault: str) -> None:
    free = outcomes(user, "")
    assert free == dict.fromkeys(free, "done"), "without confinement everything works"
    user.check_output(f"rm {vault}/Daily/written {vault}/Brain/written /srv/shared/written")
    directives = PLAIN
    if kind == "rendered":
        directives = user.check_output(f"{ENVIRONMENT}/bin/python -c {shlex.quote(RENDERED)} {vault}")
    held = outcomes(user, directives)
    assert {name for name, outcome in held.items() if outcome == "done"} == ALLOWED, held
    assert held["call what is not in @system-service"] == "SIGSYS"
    # What it wrote is in the vault itself, not in a copy that goes away with the service.
    assert user.file(f"{vault}/Daily/written").exists
    assert not user.file(f"{vault}/Brain/written").exists
