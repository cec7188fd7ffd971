"""Confinement of a connector: what it sees of this computer and reaches outside."""

import asyncio
import json
from pathlib import Path

import pytest

from parachute.base.errors import InvalidInput, NotFound
from parachute.connectors.process.confinement import PROGRAM
from tests.conftest import needs_bubblewrap
from tests.connectors.connected import Server
from tests.support.computer import free_port

pytestmark = [needs_bubblewrap, pytest.mark.asyncio(loop_scope="module")]


async def test_it_sees_its_own_folder_and_no_other(telegram: Server) -> None:
    root = Path(f"/proc/{(await telegram.program()).pid}/root")
    home = root / telegram.home.root.relative_to("/")
    (telegram.home.root / "keys.yaml").write_text("keys: []")
    assert [path.name for path in home.iterdir()] == ["run"]
    assert sorted(path.name for path in (home / "run").iterdir()) == ["connector", "notify-connector@telegram.sock"]
    own = home / "run" / "connector" / "telegram"
    assert sorted(path.name for path in own.iterdir()) == ["core", "files", "spec.json"]
    assert sorted(path.name for path in (own / "core").iterdir()) == ["core.sock", "egress.sock"]
    assert not (root / "home").exists()
    assert not (root / "etc" / "shadow").exists()
    assert not (root / telegram.home.root.parent.relative_to("/") / "Parachute").exists()


async def test_it_has_no_network_and_no_environment_of_others(telegram: Server) -> None:
    program = await telegram.program()
    assert PROGRAM in program.cmdline()[-3]
    interfaces = Path(f"/proc/{program.pid}/net/dev").read_text().splitlines()[2:]
    assert [line.partition(":")[0].strip() for line in interfaces] == ["lo"]
    assert "OUTSIDE" not in program.environ()
    assert program.environ()["PARACHUTE_HOME"] == str(telegram.home.root)
    capabilities = Path(f"/proc/{program.pid}/status").read_text()
    assert "CapEff:\t0000000000000000" in capabilities
    assert "NoNewPrivs:\t1" in capabilities
    assert "Seccomp:\t2" in capabilities


@pytest.mark.parametrize(
    "target", ["example.org:443", "api.telegram.org:443", "169.254.169.254:80", "127.0.0.1:{other}"]
)
async def test_it_reaches_the_one_server_that_the_owner_named(telegram: Server, target: str) -> None:
    """The other end of what its library uses: the socket of the egress proxy."""
    target = target.format(other=free_port())
    socket = telegram.home.run / "connector" / "telegram" / "core" / "egress.sock"
    reader, writer = await asyncio.open_unix_connection(socket)
    writer.write(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
    assert b" 403 " in await reader.readline()
    writer.close()
    await writer.wait_closed()
    await telegram.audit.written()
    files = (telegram.home.root.parent / "audit").glob("*.jsonl")
    entries = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    recorded = [entry for entry in entries if target in json.dumps(entry)]
    assert recorded
    assert recorded[-1]["source_type"] == "connector"


async def test_no_connector_reaches_the_server_itself(telegram: Server) -> None:
    await telegram.connectors.close("telegram")
    for server in ("http://127.0.0.1:1", "http://localhost:2", "ftp://example.org", "http://example.org", "nonsense"):
        with pytest.raises(InvalidInput):
            await telegram.connectors.open("telegram", server)
    assert not await telegram.unit()
    with pytest.raises(NotFound):
        await telegram.connectors.open("carrier_pigeon")
    await telegram.connectors.open("telegram", telegram.store.start_with.server)
    await telegram.connected()
