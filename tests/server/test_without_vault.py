"""A computer whose vault goes away and comes back, as on a disk that is pulled out."""

from pathlib import Path

import httpx2
import pytest

from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.computer import Computer
from tests.support.making import Make

pytestmark = pytest.mark.long

OFFICIAL = Path(__file__).resolve().parents[2] / "modules"


def written(computer: ModuleComputer, content: str) -> httpx2.Response:
    return computer.post("/api/daily/entries", json={"content": content})


def test_nothing_is_made_in_the_place_of_a_vault_and_everything_works_when_it_is_back(
    make_computer: Make[Computer],
) -> None:
    computer = make_computer(ModuleComputer)
    with computer.modules.installing(str(OFFICIAL / "daily")) as installing:
        installing.finish()
    computer.reload()
    assert written(computer, "before").status_code == 200
    away = computer.folder / "away"
    computer.vault.rename(away)
    computer.vault.mkdir()  # the place where it was mounted
    refused = written(computer, "meanwhile")
    assert (refused.status_code, refused.json()["key"]) == (503, "vault_missing")

    def waits() -> bool:
        names = {unit["name"] for unit in computer.ask_supervisor("status")["units"]}
        return names <= {"core", "programs"} and "is not in" in (computer.home.logs / "core.log").read_text()

    computer.wait_until(waits, "everything that would write has ended")
    computer.wait_until(lambda: _key(computer) == "vault_missing", "the server answers without its vault")
    assert list(computer.vault.iterdir()) == []

    computer.vault.rmdir()
    away.rename(computer.vault)
    computer.wait_until(lambda: written(computer, "after").status_code == 200, "the vault is back")
    found = computer.get("/api/daily/entries", params={"limit": 10}).json()
    assert {"before", "after"} <= {each["content"].strip() for each in found["entries"]}
    assert computer.get("/api/status").json()["recovery"] == []

    computer.stop()
    computer.vault.rename(away)
    refusal = computer.command("start")
    assert refusal.returncode == 1
    assert f"parachute vault set {computer.vault} --create" in refusal.stderr
    assert not computer.vault.exists()


def _key(computer: ModuleComputer) -> str | None:
    try:
        return str(computer.get("/api/health").json().get("key"))
    except httpx2.TransportError:
        return None
