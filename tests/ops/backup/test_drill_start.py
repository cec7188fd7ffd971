"""A drill starts the computer from what the backup has brought back, beside the one that is there."""

import json
import shutil
from pathlib import Path

import pytest

from parachute.config.settings.home import Home
from parachute.modules.registry.service import Modules
from parachute.ops.rehearsal.staging import remove_private
from tests.conftest import needs_bubblewrap
from tests.support.links import linked

from .installation import Installation
from .test_command_line import parachute

OFFICIAL = Path(__file__).resolve().parents[3] / "modules"

pytestmark = pytest.mark.long


def test_a_backup_from_which_no_computer_starts_is_not_good(installation: Installation) -> None:
    config = installation.home / "config.yaml"
    sound = config.read_text()
    config.write_text(f"{sound}not_known: true\n")
    installation.create()
    config.write_text(sound)
    _, said = parachute(installation, "backup", "drill", code=1)
    assert "the computer does not start from it." in said
    assert "not_known" in said
    drill = json.loads(parachute(installation, "backup", "status", "--json", code=1)[0])["drill"]
    assert (drill["result"], drill["succeeded_at"]) == ("failed", None)
    left = {path.name for path in installation.folder.iterdir()}
    assert not left & {".parachute.rehearsal"}
    assert not (installation.places.folder / "parachute-drill").exists()


@needs_bubblewrap
def test_a_drill_starts_the_computer_also_where_it_is_reached_through_a_link(installation: Installation) -> None:
    config = installation.home / "config.yaml"
    with linked(installation.folder) as link, linked(installation.vault) as vault:
        config.write_text(config.read_text().replace(str(installation.vault), str(vault)))
        installation.open(link)
        parachute(installation, "backup", "create")
        drilled = json.loads(parachute(installation, "backup", "drill", "--json")[0])
        installation.open(link.resolve())
    assert (drilled["started"], drilled["not_started"]) == (True, None)


@needs_bubblewrap
@pytest.mark.usefixtures("views_work")
def test_a_computer_with_modules_starts_with_them_from_its_backup(installation: Installation) -> None:
    modules = Modules(Home(installation.home), installation.vault)
    for name in ("brain", "daily"):
        with modules.installing(str(OFFICIAL / name)) as found:
            found.finish()
    parachute(installation, "backup", "create")
    drilled = json.loads(parachute(installation, "backup", "drill", "--json")[0])
    assert (drilled["started"], drilled["not_started"]) == (True, None)


def test_without_namespaces_a_drill_says_that_it_has_not_tried(installation: Installation, tmp_path: Path) -> None:
    (tmp_path / "restic").symlink_to(shutil.which("restic") or "")
    installation.create()
    drilled = json.loads(parachute(installation, "backup", "drill", "--json", path=str(tmp_path))[0])
    assert (drilled["started"], drilled["not_started"]) == (False, "bubblewrap is not installed.")


def test_secrets_and_hooks_are_removed_before(tmp_path: Path) -> None:
    for name in ("credentials.json", "bot-tokens.json", "hooks.yaml", "config.yaml"):
        (tmp_path / name).write_text("{}")
    for name in ("hooks", "backup", "modules"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    remove_private(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"config.yaml", "modules"}
