"""Reach of a hostile module from inside of its sandbox, tried by the module itself."""

import json
from typing import Any

import pytest

from tests.conftest import needs_bubblewrap
from tests.modules.runtime.module_computer import ModuleComputer

pytestmark = [needs_bubblewrap, pytest.mark.long]

PROBE = """
@route("POST", "/list")
def list_folder(self, path: str):
    return sorted(os.listdir(path))

@route("POST", "/read")
def read(self, path: str):
    with open(path, "rb") as file:
        return file.read(200).decode("latin-1")

@route("POST", "/write")
def write(self, path: str):
    with open(path, "w") as file:
        file.write("was here")
    return "written"

@route("POST", "/connect")
def connect(self, path: str, port: int = 0):
    family, address = (socket.AF_INET, (path, port)) if port else (socket.AF_UNIX, path)
    with socket.socket(family) as connection:
        connection.settimeout(5)
        connection.connect(address)
    return "connected"

@route("POST", "/kill")
def kill(self, process: int):
    os.kill(process, 0)
    return "alive"

@route("POST", "/flood")
def flood(self, path: str, count: int):
    \"\"\"Open as many connections as there may be, and keep them.\"\"\"
    self.kept = []
    for _ in range(count):
        connection = socket.socket(socket.AF_UNIX)
        self.kept.append(connection)
        try:
            connection.connect(path)
            connection.sendall(b"POST /publish HTTP/1.1\\r\\nhost: core\\r\\ncontent-length: 9999\\r\\n\\r\\n{")
        except OSError:
            pass
    return len(self.kept)

@route("GET", "/self")
def about(self):
    with open("/proc/self/status") as status:
        lines = dict(line.rstrip("\\n").split(":\\t", 1) for line in status)
    return {
        "processes": sorted(name for name in os.listdir("/proc") if name.isdigit()),
        "environment": dict(os.environ),
        "capabilities": lines["CapEff"],
        "privileges": lines["NoNewPrivs"],
        "interfaces": [line.split(":")[0].strip() for line in open("/proc/net/dev").read().splitlines()[2:]],
    }

@route("POST", "/core")
def raw_core(self, method: str, path: str, text: str):
    \"\"\"Core's socket, without anything that this computer has written for it.\"\"\"
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(os.environ["PARACHUTE_HOME"] + "/run/module/" + self.name + "/core/core.sock")
        connection.sendall((
            f"{method} {path} HTTP/1.1\\r\\nhost: core\\r\\nconnection: close\\r\\ncontent-length: {len(text)}\\r\\n"
            f"x-module: victim\\r\\nx-parachute-caller: victim\\r\\n\\r\\n{text}"
        ).encode())
        answer = b""
        while part := connection.recv(65536):
            answer += part
    head, _, body = answer.partition(b"\\r\\n\\r\\n")
    return {"status": int(head.split(b" ")[1]), "text": body.decode()}
"""
TOP = "import os\nimport socket\n"


@pytest.fixture(scope="module")
def probing(shared_computer: ModuleComputer) -> ModuleComputer:
    """A computer with the modules `hostile`, `shutin`, which is not trusted, and `victim`."""
    (shared_computer.vault / "Diary").mkdir()
    (shared_computer.vault / "Diary/today.md").write_text("dear diary")
    (shared_computer.vault / "Open").mkdir()
    (shared_computer.vault / "Open/page.md").write_text("a page")
    permissions = {"read": ["Open/**"], "write": ["Hostile/**"]}
    shared_computer.install_quietly("hostile", PROBE, top=TOP, permissions=permissions)
    shared_computer.install_quietly("shutin", PROBE, top=TOP, permissions=permissions, untrusted=True)
    victim = '@route("GET", "/")\nasync def get(self):\n    return {"fine": True}\n'
    shared_computer.install("victim", victim, settings={"word": {"type": "string", "default": "mine"}})
    assert shared_computer.value("/api/victim/") == {"fine": True}
    return shared_computer


def attempt(probing: ModuleComputer, name: str, what: str, **document: Any) -> Any:
    """Return the result of an attempt: a value, or None where it was not possible."""
    answer = probing.post(f"/api/{name}/{what}", json=document)
    assert answer.status_code in (200, 500), answer.text
    if answer.status_code == 500:
        return None
    return answer.json() if answer.headers["content-type"].startswith("application/json") else answer.text


def test_the_probe_can_see_what_it_may(probing: ModuleComputer) -> None:
    """Otherwise the tests below would prove nothing."""
    assert attempt(probing, "hostile", "read", path=str(probing.vault / "Open/page.md")) == "a page"
    assert attempt(probing, "hostile", "write", path=str(probing.vault / "Hostile/x")) == "written"
    assert (probing.vault / "Hostile/x").read_text() == "was here"
    core = probing.home.run / "module/hostile/core/core.sock"
    assert attempt(probing, "hostile", "connect", path=str(core)) == "connected"
    data = probing.home.root / "module-data/hostile/x"
    assert attempt(probing, "hostile", "write", path=str(data)) == "written"


@pytest.mark.parametrize("name", ["hostile", "shutin"])
def test_files_out_of_reach(probing: ModuleComputer, name: str) -> None:
    root, vault = probing.home.root, probing.vault
    unreadable = [
        vault / "Diary/today.md",
        vault / ".parachute/events.db",
        vault / ".modules/victim/module.py",
        root / "config.yaml",
        root / "modules.yaml",
        root / "trust.db",
        root / "logs/core.log",
        root / "run/module/victim/spec.json",
        root / "module-data/victim/storage.db",
        probing.modules.approved("victim").code / "module.py",
        "/etc/shadow",
        "/root/.bashrc",
    ]
    for path in unreadable:
        assert attempt(probing, name, "read", path=str(path)) is None, path
    own = probing.modules.approved(name).code / "module.py"
    assert attempt(probing, name, "read", path=str(own)) is not None
    spec = root / f"run/module/{name}/spec.json"
    for path in (own, spec, vault / "Open/page.md", "/new", "/usr/new"):
        assert attempt(probing, name, "write", path=str(path)) is None, path
    # Of the vault only what leads to what was granted, of the home nothing.
    seen = attempt(probing, name, "list", path=str(vault))
    assert seen == (["Hostile", "Open"] if name == "hostile" else None)
    assert set(attempt(probing, name, "list", path=str(root))) <= {"module-data", "modules", "run"}
    assert attempt(probing, name, "list", path=str(root / "run/module")) == [name]
    assert attempt(probing, name, "list", path=str(root / "module-data")) == [name]
    for folder in (vault, root, root / "run/module"):
        # Below /tmp, as in this test, they lie in the sandbox's own memory, and such a file goes with it.
        attempt(probing, name, "write", path=str(folder / "new"))
        assert not (folder / "new").exists()


@pytest.mark.parametrize("name", ["hostile", "shutin"])
def test_sockets_and_networks_out_of_reach(probing: ModuleComputer, name: str) -> None:
    run = probing.home.run
    sockets = [run / "module/victim/core/core.sock", run / "module/victim/host/host.sock", probing.home.control_socket]
    sockets += [
        path for path in run.rglob("*.sock") if f"module/{name}/" not in str(path) and "notify" not in path.name
    ]
    for path in sockets:
        assert attempt(probing, name, "connect", path=str(path)) is None, path
    assert attempt(probing, name, "connect", path="127.0.0.1", port=probing.port) is None
    assert attempt(probing, name, "connect", path="192.0.2.1", port=80) is None
    about = probing.value(f"/api/{name}/self")
    assert about["interfaces"] == ["lo"]
    assert not [variable for variable in about["environment"] if "proxy" in variable.lower()]


def test_processes_out_of_reach(probing: ModuleComputer) -> None:
    about = probing.value("/api/hostile/self")
    core = probing.find_process("parachute.server").pid
    assert str(core) not in about["processes"]
    assert len(about["processes"]) <= 3
    assert attempt(probing, "hostile", "kill", process=core) is None
    assert int(about["capabilities"], 16) == 0
    assert about["privileges"] == "1"
    secrets = [value for key, value in about["environment"].items() if "KEY" in key or "TOKEN" in key]
    assert secrets == []


@pytest.mark.parametrize("event", ["victim.said", "session.start", "hostile", "hostilex.said", "", "*", "hostile.*"])
def test_events_of_others_cannot_be_forged(probing: ModuleComputer, event: str) -> None:
    answer = attempt(probing, "hostile", "core", method="POST", path="/publish", text=json.dumps({"name": event}))
    assert answer["status"] in (403, 422), answer


def test_an_own_event_can_be_published_on_the_bare_socket(probing: ModuleComputer) -> None:
    answer = attempt(probing, "hostile", "core", method="POST", path="/publish", text='{"name": "hostile.said"}')
    assert answer["status"] == 200, answer


@pytest.mark.parametrize(
    ("method", "path", "document", "statuses"),
    [
        ("POST", "/interface", {"interface": "BrainInterface", "method": "search", "arguments": {}}, {403}),
        ("POST", "/interface", {"interface": "../x", "method": "y"}, {403}),
        ("POST", "/interface", {"interface": ["x"], "method": 1}, {422}),
        ("PUT", "/settings/word", {"value": "theirs"}, {404, 422}),
        ("DELETE", "/settings/word", None, {404, 422}),
        ("POST", "/start", {"hash": "sha256:" + "0" * 64, "folders": {}}, {409}),
        ("POST", "/start", {"hash": 1, "folders": []}, {422}),
        ("POST", "/run-agent", {"agent": "anybody", "prompt": "x"}, {403, 404, 409, 422, 503}),
        ("POST", "/query", {"message": "x", "mcp_servers": [1]}, {422}),
        ("POST", "/query", {"message": ""}, {422}),
        ("GET", "/api/modules", None, {404}),
        ("GET", "/../interfaces", None, {404}),
        ("POST", "/publish", [], {422}),
    ],
)
def test_what_core_refuses_on_a_modules_socket(
    probing: ModuleComputer, method: str, path: str, document: Any, statuses: set[int]
) -> None:
    answer = attempt(probing, "hostile", "core", method=method, path=path, text=json.dumps(document))
    assert answer["status"] in statuses, answer
    assert probing.value("/api/hostile/self")
    settings = probing.value("/api/modules/victim/settings")["settings"]
    assert [row["value"] for row in settings if row["name"] == "word"] == ["mine"]


def test_a_module_cannot_use_up_cores_descriptors(probing: ModuleComputer) -> None:
    core = probing.find_process("parachute.server")
    before = core.num_fds()
    path = str(probing.home.run / "module/hostile/core/core.sock")
    assert attempt(probing, "hostile", "flood", path=path, count=2000) == 2000
    assert core.num_fds() < before + 300
    assert probing.value("/api/victim/") == {"fine": True}
    probing.put_to_sleep("hostile")
    assert probing.value("/api/hostile/self")
    probing.wait_until(lambda: core.num_fds() < before + 20, "core has closed them")
