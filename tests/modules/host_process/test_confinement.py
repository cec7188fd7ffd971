"""A hostile module in its sandbox: what the consent screen said is all that it can reach."""

import os
import signal
import socket
import subprocess
import threading
from pathlib import Path

import psutil
import pytest

from tests.conftest import needs_bubblewrap
from tests.modules.host_process.activator import LAUNCHER, HostedModule, hosted
from tests.support.activation import DEADLINE
from tests.support.waiting import wait_until

pytestmark = [needs_bubblewrap, pytest.mark.process]

PROBE = """
import os, socket, subprocess, sys
from pathlib import Path
from parachute.core import Module, route

class Probe(Module):
    name = "probe"
    version = "1.0.0"

    @route("POST", "/read")
    async def read(self, path: str):
        try:
            found = Path(path)
            return {"found": sorted(os.listdir(found)) if found.is_dir() else found.read_text()}
        except OSError as error:
            return {"error": error.strerror}

    @route("POST", "/write")
    async def write(self, path: str):
        try:
            Path(path).write_text("written")
            return {"written": True}
        except OSError as error:
            return {"error": error.strerror}

    @route("POST", "/vault")
    async def vault(self, path: str, content: str):
        await self.core.files.write(path, content)
        return {"read": await self.core.files.read(path)}

    @route("POST", "/connect")
    async def connect(self, host: str, port: int):
        try:
            with socket.create_connection((host, port), 3):
                return {"connected": True}
        except OSError as error:
            return {"error": str(error)}

    @route("POST", "/socket")
    async def socket(self, path: str):
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(path.replace("@", chr(0), 1) if path.startswith("@") else path)
                return {"connected": True}
        except OSError as error:
            return {"error": str(error)}

    @route("GET", "/self")
    async def own(self):
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        return {
            "uid": os.getuid(), "pid": os.getpid(), "capabilities": status["CapEff"].strip(), "privileges": status["NoNewPrivs"].strip(),
            "environment": dict(os.environ), "processes": [int(name) for name in os.listdir("/proc") if name.isdigit()],
            "interfaces": [name for _, name in socket.if_nameindex()], "arguments": sys.argv,
        }

    @route("POST", "/fork")
    async def fork(self):
        for _ in range(3):
            code = "import os, time; os.setsid(); time.sleep(600)"
            subprocess.Popen([sys.executable, "-c", code, os.environ["PARACHUTE_HOME"]])
        return {}

    @route("POST", "/leak")
    async def leak(self):
        try:
            return {"size": len(bytearray(2 << 30))}
        except MemoryError:
            return {"error": "MemoryError"}

    @route("POST", "/namespace")
    async def namespace(self):
        found = subprocess.run(["unshare", "--user", "--map-root-user", "true"], capture_output=True)
        return {"code": found.returncode}
"""
MANIFEST = """\
name: probe
version: 1.0.0
module: module.py
permissions: {read: [Brain/**, notes/memory.md], write: [Probe/**]}
"""


@pytest.fixture(scope="module")
def probe():  # type: ignore[no-untyped-def]
    changes = {
        "read": ("Brain", "notes/memory.md", "Missing"),
        "write": ("Probe",),
        "trust": "untrusted",
        "programs": True,
    }
    secret = {"PARACHUTE_TEST_SECRET": "secret"}
    with hosted("probe", PROBE, manifest=MANIFEST, box=True, changes=changes, environment=secret) as probe:
        for name in ("Brain/kevin.md", "notes/memory.md", "notes/other.md", "Daily/today.md", ".parachute/token"):
            (probe.vault / name).parent.mkdir(exist_ok=True)
            (probe.vault / name).write_text(name)
        (probe.home / "keys.yaml").write_text("secret")
        (probe.home / "run/module/other/core").mkdir(parents=True)
        yield probe


def _read(probe: HostedModule, path: object) -> object:
    answer = probe.post("/read", {"path": str(path)}).json()
    return answer.get("found", answer.get("error"))


def test_it_sees_what_it_may_and_nothing_else(probe: HostedModule) -> None:
    assert _read(probe, probe.vault) == ["Brain", "Probe", "notes"]
    assert _read(probe, probe.vault / "Brain/kevin.md") == "Brain/kevin.md"
    assert _read(probe, probe.vault / "notes") == ["memory.md"]
    for hidden in ("Daily/today.md", ".parachute/token", "notes/other.md"):
        assert _read(probe, probe.vault / hidden) == "No such file or directory"
    for outside in (probe.home / "keys.yaml", Path.home() / ".bashrc", "/etc/shadow", "/etc/hostname"):
        assert _read(probe, outside) == "No such file or directory"
    assert _read(probe, probe.home) == ["module-data", "modules", "run"]
    assert _read(probe, probe.home / "run/module") == ["probe"]
    assert _read(probe, probe.home / "run/module/probe") == ["core", "spec.json"]
    assert _read(probe, "/tmp") == []
    assert _read(probe, "/var/tmp") == [probe.folder.name]


def test_it_writes_where_it_may_and_nowhere_else(probe: HostedModule) -> None:
    answer = probe.post("/vault", {"path": "Probe/new/a.md", "content": "ä"})
    assert answer.json() == {"read": "ä"}
    assert (probe.vault / "Probe/new/a.md").read_text() == "ä"
    assert probe.post("/write", {"path": str(Path(probe.specification.data) / "own")}).json() == {"written": True}
    code = str(probe.code / "module.py")
    for path in (
        f"{probe.vault}/Brain/kevin.md",
        f"{probe.vault}/new.md",
        code,
        f"{probe.home}/x",
        "/usr/x",
        "/x",
        "/etc/x",
    ):
        assert "Read-only" in probe.post("/write", {"path": path}).json()["error"]
    assert "Read-only" in probe.post("/write", {"path": f"{probe.home}/run/module/probe/spec.json"}).json()["error"]
    assert probe.post("/vault", {"path": "Brain/kevin.md", "content": "x"}).status == 403


def test_it_has_no_network_and_no_socket_but_its_own(probe: HostedModule) -> None:
    with socket.socket() as listener, socket.socket(socket.AF_UNIX) as other, socket.socket(socket.AF_UNIX) as abstract:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        other.bind(str(probe.home / "run/module/other/core/core.sock"))
        other.listen()
        abstract.bind(f"\0{probe.folder.name}")
        abstract.listen()
        port = listener.getsockname()[1]
        assert "refused" in probe.post("/connect", {"host": "127.0.0.1", "port": port}).json()["error"]
        assert "unreachable" in probe.post("/connect", {"host": "192.0.2.1", "port": 80}).json()["error"]
        path = str(probe.home / "run/module/other/core/core.sock")
        assert "No such file" in probe.post("/socket", {"path": path}).json()["error"]
        assert "refused" in probe.post("/socket", {"path": f"@{probe.folder.name}"}).json()["error"]
        assert probe.post("/socket", {"path": probe.specification.core_socket}).json() == {"connected": True}


def test_it_has_no_rights_and_no_neighbours(probe: HostedModule) -> None:
    own = probe.get("/self").json()
    assert (own["uid"], own["pid"], own["capabilities"], own["privileges"]) == (1000, 1, "0" * 16, "1")
    assert own["processes"] == [1]
    assert own["interfaces"] == ["lo"]
    assert own["arguments"] == ["probe"]
    assert own["environment"] == {
        "HOME": probe.specification.data,
        "LANG": "C.UTF-8",
        "PARACHUTE_HOME": str(probe.home),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "PWD": probe.specification.data,
        "TMPDIR": "/tmp",
        "TZ": os.environ["TZ"],
    }
    assert probe.post("/namespace").json()["code"] != 0


def test_its_memory_has_an_end(probe: HostedModule) -> None:
    assert probe.post("/leak").json() == {"error": "MemoryError"}
    assert probe.get("/_parachute/health").status == 200


def test_what_it_forks_ends_with_it() -> None:
    with hosted("probe", PROBE, manifest=MANIFEST, box=True, changes={"programs": True}) as probe:
        assert probe.post("/fork").status == 200
        assert probe.process is not None
        family = psutil.Process(probe.process.pid)

        def started() -> list[psutil.Process]:
            # A process has no command line in the moment in which it becomes another program.
            found = family.children(recursive=True)
            return [process for process in found if process.cmdline()[-1:] == [str(probe.home)]]

        forked: list[psutil.Process] = wait_until(lambda: len(found := started()) == 3 and found, "all of them run")
        probe.process.terminate()
        wait_until(lambda: not any(process.is_running() for process in forked), "the forked processes end")
        wait_until(lambda: len(probe.exits) == 1, "the process ends")


def test_a_link_in_the_place_of_a_folder_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    for name in ("Brain", "Probe"):
        with hosted(
            "probe", PROBE, manifest=MANIFEST, box=True, changes={"read": ("Brain",), "write": ("Probe",)}
        ) as probe:
            (probe.vault / name).symlink_to(tmp_path)
            assert "it is a link" in probe.failure()
            assert probe.exits == [2]


def test_without_a_sandbox_a_module_that_is_not_trusted_does_not_start() -> None:
    with hosted("probe", PROBE, manifest=MANIFEST, program=LAUNCHER, changes={"trust": "untrusted"}) as probe:
        assert "is not trusted, and without bubblewrap nothing can hold it back" in probe.failure()


def test_the_sandbox_passes_signs_of_life_to_the_supervisor() -> None:
    with (
        hosted("probe", PROBE, manifest=MANIFEST, box=True) as probe,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifications,
    ):
        notifications.bind(str(probe.folder / "notify"))
        notifications.settimeout(DEADLINE)
        probe.environment |= {"NOTIFY_SOCKET": str(probe.folder / "notify"), "WATCHDOG_USEC": "100000"}
        assert probe.get("/_parachute/health").status == 200
        assert {notifications.recv(100) for _ in range(3)} == {b"READY=1", b"WATCHDOG=1"}


def test_its_days_are_those_of_the_computer() -> None:
    module = PROBE + (
        "\n    @route('GET', '/offset')\n    async def offset(self):\n        import time\n"
        "        return {'minutes': time.localtime().tm_gmtoff // 60}\n"
    )
    with hosted("probe", module, manifest=MANIFEST, box=True) as probe:
        probe.environment |= {"TZ": "Asia/Kathmandu"}
        assert probe.get("/offset").json() == {"minutes": 5 * 60 + 45}


def test_it_finishes_what_it_does_when_it_is_stopped() -> None:
    module = PROBE + (
        "\n    @route('GET', '/slow')\n    async def slow(self):\n        import asyncio\n"
        "        Path('slow').touch()\n        while not Path('go').exists():\n            await asyncio.sleep(0.01)\n        return {}\n"
        "\n    async def on_stop(self):\n        Path('stopped').touch()\n"
    )
    with hosted("probe", module, manifest=MANIFEST, box=True) as probe:
        data = Path(probe.specification.data)
        answers = []
        asking = threading.Thread(target=lambda: answers.append(probe.get("/slow")))
        asking.start()
        wait_until((data / "slow").exists, "the request runs")
        assert probe.process is not None
        probe.process.terminate()
        (data / "go").touch()
        asking.join(DEADLINE)
        assert answers[0].status == 200
        wait_until(lambda: probe.exits == [0], "the process ends")
        assert (data / "stopped").exists()


def test_it_can_be_stopped_before_it_has_started() -> None:
    """Nobody hears a signal for the first process of a namespace that has not asked for it yet."""
    with hosted("probe", PROBE, manifest=MANIFEST, box=True) as probe:
        process = probe.spawn(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            family = psutil.Process(process.pid)
            wait_until(lambda: len(family.children(recursive=True)) > 1, "the sandbox has its first process")
            process.terminate()
            # The second where even the shell around it had not asked for it.
            assert process.wait(DEADLINE) in (0, -signal.SIGTERM)
        finally:
            process.kill()
            process.wait()


@pytest.mark.long
def test_it_ends_when_idle_and_starts_again() -> None:
    with hosted("probe", PROBE, manifest=MANIFEST, box=True, idle_seconds=0.1) as probe:
        for number in (1, 2):
            assert probe.get("/self").status == 200

            def has_ended(number: int = number) -> bool:
                return len(probe.exits) == number

            wait_until(has_ended, "the idle process ends")
        assert probe.exits == [0, 0]


def test_the_way_out_is_the_proxy_of_this_computer() -> None:
    module = PROBE + (
        "\n    @route('GET', '/fetch')\n    def fetch(self):\n        import urllib.request\n"
        "        with urllib.request.urlopen('http://api.example.org/x', timeout=20) as answer:\n"
        "            return {'said': answer.read().decode()}\n"
    )
    with (
        hosted("probe", module, manifest=MANIFEST, box=True) as probe,
        socket.socket(socket.AF_UNIX) as egress,
    ):
        egress.bind(str(Path(probe.specification.core_socket).with_name("egress.sock")))
        egress.listen()
        egress.settimeout(DEADLINE)
        asked: list[bytes] = []

        def answer() -> None:
            with egress.accept()[0] as client:
                asked.append(client.recv(4096))
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")

        answering = threading.Thread(target=answer)
        answering.start()
        assert probe.get("/fetch").json() == {"said": "hi"}
        answering.join(DEADLINE)
        assert asked[0].startswith(b"GET http://api.example.org/x HTTP/1.1\r\n")
