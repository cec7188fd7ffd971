"""A start that fails says why, in a sentence."""

from pathlib import Path

import pytest
import uvicorn

from parachute.base.database import Database
from parachute.chat.sessions import migrations
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.server.app import create
from parachute.supervisor.credentials import Credentials


async def started(folder: Path, vault: Path) -> bool:
    """Return whether the application of this vault starts; the server does not go on then."""
    home = Home(folder / ".parachute")
    home.root.mkdir(mode=0o700, exist_ok=True)
    app = create(home, Settings(vault=vault), Credentials())
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="on"))
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    await server.lifespan.startup()
    if server.lifespan.should_exit:
        return False
    await server.lifespan.shutdown()
    return True


async def test_a_database_of_a_newer_version(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "vault" / ".parachute" / "sessions.db"
    database = Database(path, migrations.ALL)
    await database.open()
    await database.write("INSERT INTO migrations VALUES ('m9999_future', '2099-01-01T00:00:00Z')")
    await database.close()
    assert not await started(tmp_path, tmp_path / "vault")
    assert f"The database {path} was written by a newer version (m9999_future)." in caplog.text
    assert "Traceback" not in caplog.text


async def test_a_vault_that_cannot_be_made(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    assert not await started(tmp_path, tmp_path / "file" / "vault")
    assert f"The vault {tmp_path / 'file' / 'vault'} cannot be used: Not a directory." in caplog.text
    assert "Traceback" not in caplog.text
