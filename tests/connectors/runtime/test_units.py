"""Files that a connector's unit leaves behind."""

import os
import time
from pathlib import Path

from parachute.config.settings.home import Home
from parachute.connectors.platforms.shown import FILE
from parachute.connectors.runtime.units import ConnectorUnits
from parachute.sandbox.egress.service import Egress
from parachute.security.audit.service import Audit


async def test_files_that_nobody_takes_go_and_the_memory_stays(tmp_path: Path) -> None:
    units = ConnectorUnits(Home(tmp_path), Egress(Audit(tmp_path / "audit")), tmp_path / "vault", 3333, _nothing)
    await units.forget_old_files("telegram")
    folder = Path(units.specification("telegram").files)
    folder.mkdir(parents=True)
    precious = tmp_path / "precious"
    for path in (folder / "old", folder / "new", folder / FILE, precious):
        path.write_text("x")
    (folder / "link").symlink_to(precious)
    weeks_ago = time.time() - 15 * 86400
    for path in (folder / "old", folder / FILE, precious):
        os.utime(path, (weeks_ago, weeks_ago))
    await units.forget_old_files("telegram")
    assert sorted(path.name for path in folder.iterdir()) == [FILE, "link", "new"]
    assert precious.exists()


async def _nothing(scope: object, receive: object, send: object) -> None:
    return
