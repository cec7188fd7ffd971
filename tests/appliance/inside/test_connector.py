"""A connector as a service: systemd holds it back as its drop-in says, and it does its work in there."""

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest

from parachute.connectors.platforms.models import File, Start
from tests.connectors.connected import Server, server
from tests.supervisor.launching import Launcher, launcher
from tests.support.telegram_api import TOKEN, TelegramApi
from tests.support.waiting import until

UNIT = "parachute-connector@telegram.service"


@pytest.fixture
def units() -> Iterator[Launcher]:
    """A supervisor without core."""
    with launcher("systemd") as running:
        yield running


@pytest.fixture
def api() -> Iterator[TelegramApi]:
    """A Bot API."""
    with TelegramApi() as running:
        yield running


@pytest.fixture
async def telegram(units: Launcher, api: TelegramApi) -> AsyncIterator[Server]:
    """A connector as a service."""
    async with server(units, "telegram", Start(TOKEN, server=api.url)) as running:
        await running.connected()
        yield running


def main_process() -> int:
    """The process of the service."""
    command = ["systemctl", "--user", "show", "--property=MainPID", "--value", UNIT]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


async def test_it_works_within_its_confinement(telegram: Server, api: TelegramApi) -> None:
    picture = {"file_id": api.add_file(b"\xff\xd8\xff"), "file_unique_id": "a", "width": 9, "height": 9, "file_size": 3}
    written = api.write("", photo=[picture], caption="Look")
    await until(lambda: str(written) in telegram.store.updates, "it is stored", telegram.log)
    (file,) = telegram.store.updates[str(written)].files
    assert (telegram.files / file.path).read_bytes() == b"\xff\xd8\xff"
    (telegram.files / "out").write_bytes(b"text")
    files = (File("document", "a.txt", "text/plain", 4, "out"),)
    await telegram.send("key", "**Hello**", files=files)
    assert [each.attached for each in api.written] == ["", "document"]
    killed = main_process()
    os.kill(killed, signal.SIGKILL)
    await until(lambda: main_process() not in (0, killed), "systemd has started another", telegram.log)
    again = api.write("Still there?")
    await until(lambda: str(again) in telegram.store.updates, "it is stored", telegram.log)
    await telegram.send("key", "**Hello**", files=files)
    assert len(api.written) == 2


async def test_it_is_held_back(telegram: Server) -> None:
    process = psutil.Process(main_process())
    root = Path(f"/proc/{process.pid}/root")
    home = root / telegram.home.root.relative_to("/")
    (telegram.home.root / "keys.yaml").write_text("keys: []")
    assert [path.name for path in home.iterdir()] == ["run"]
    own = home / "run" / "connector" / "telegram"
    assert sorted(path.name for path in own.iterdir()) == ["core", "files", "spec.json"]
    assert list((root / "home").iterdir()) in ([], [root / "home" / os.environ.get("USER", "parachute")])
    interfaces = Path(f"/proc/{process.pid}/net/dev").read_text().splitlines()[2:]
    assert [line.partition(":")[0].strip() for line in interfaces] == ["lo"]
    status = Path(f"/proc/{process.pid}/status").read_text()
    for line in ("CapEff:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"):
        assert line in status
    assert TOKEN.partition(":")[2] not in "".join([*process.cmdline(), *process.environ().values()])
    mounted = Path(f"/proc/{process.pid}/mountinfo").read_text().splitlines()
    bound = {line.split()[4]: line.split()[5].split(",") for line in mounted}
    folder = telegram.home.run / "connector" / "telegram"
    assert "ro" in bound[str(folder / "core")]
    assert "ro" in bound[str(folder / "spec.json")]
    assert "rw" in bound[str(folder / "files")]


async def test_a_revoked_token_ends_the_service(telegram: Server, api: TelegramApi) -> None:
    api.revoke()
    await until(lambda: telegram.kind == "refused", "it is refused", telegram.log)
    await until(lambda: main_process() == 0, "the service has ended", telegram.log)
