"""The only way from a module to the internet."""

import json
from typing import Any

import pytest

from tests.conftest import needs_bubblewrap
from tests.modules.runtime.module_computer import ModuleComputer

pytestmark = [needs_bubblewrap, pytest.mark.long]

FETCH = """
@route("POST", "/fetch")
def fetch(self, url: str):
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return {"status": answer.status}
    except urllib.error.HTTPError as error:
        return {"status": error.code}
    except OSError as error:
        return {"error": str(error)}

@route("GET", "/self")
def about(self):
    return {
        "proxies": sorted(name for name in os.environ if "proxy" in name.lower()),
        "sockets": sorted(os.listdir(os.environ["PARACHUTE_HOME"] + f"/run/module/{self.name}/core")),
    }
"""
TOP = "import os\nimport urllib.error\nimport urllib.request\n"


@pytest.fixture(scope="module")
def outgoing(shared_computer: ModuleComputer) -> ModuleComputer:
    """A computer with modules that may, must not, and are not trusted to leave."""
    network: dict[str, Any] = {"permissions": {"network": ["example.org"]}}
    shared_computer.install_quietly("outgoing", FETCH, top=TOP, **network)
    shared_computer.install_quietly("homely", FETCH, top=TOP)
    shared_computer.install("doubtful", FETCH, top=TOP, untrusted=True, **network)
    return shared_computer


def fetch(outgoing: ModuleComputer, name: str, url: str) -> Any:
    """Return a module's answer from an address."""
    return outgoing.post(f"/api/{name}/fetch", json={"url": url}).json()


def audited(outgoing: ModuleComputer) -> list[dict[str, Any]]:
    """All entries of the audit log."""
    files = sorted((outgoing.vault / ".parachute" / "audit").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


@pytest.mark.parametrize("url", ["http://other.example.net/x?token=1", "https://other.example.net/"])
def test_a_host_that_the_manifest_does_not_name_is_refused_and_recorded(outgoing: ModuleComputer, url: str) -> None:
    answer = fetch(outgoing, "outgoing", url)
    assert answer.get("status") == 403 or "403" in answer["error"], answer

    def recorded() -> list[dict[str, Any]]:
        return [entry for entry in audited(outgoing) if "other.example.net" in json.dumps(entry)]

    outgoing.wait_until(recorded, "it is recorded")
    assert "outgoing" in json.dumps(recorded()[-1])
    assert "token" not in json.dumps(recorded())


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "169.254.169.254", "192.168.0.1"])
def test_this_computer_and_its_network_are_refused(outgoing: ModuleComputer, host: str) -> None:
    answer = fetch(outgoing, "outgoing", f"http://{host}:{outgoing.port}/api/health")
    assert answer.get("status") in (400, 403), answer
    answer = fetch(outgoing, "outgoing", f"https://{host}:{outgoing.port}/api/health")
    assert "Tunnel connection failed: 40" in answer["error"], answer


def test_the_way_out_is_there_only_for_those_who_may_use_it(outgoing: ModuleComputer) -> None:
    about = outgoing.value("/api/outgoing/self")
    assert about["proxies"] == ["HTTPS_PROXY", "HTTP_PROXY", "http_proxy", "https_proxy"]
    assert about["sockets"] == ["core.sock", "egress.sock"]
    for name in ("homely", "doubtful"):
        assert outgoing.value(f"/api/{name}/self") == {"proxies": [], "sockets": ["core.sock"]}
        assert "status" not in fetch(outgoing, name, "http://example.org/")
    outgoing.post("/api/modules/outgoing/disable")
    assert not (outgoing.home.run / "module/outgoing/core/egress.sock").exists()
