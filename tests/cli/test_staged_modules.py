"""`parachute modules staged`: what an app has fetched is shown, and answered in the inbox."""

import json

import httpx2
import pytest

from parachute.security.keys.cli_token import CliToken
from tests.modules.registry.building import write_module
from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.installation import PLAIN

pytestmark = pytest.mark.long


@pytest.mark.computer
def test_what_is_staged_is_shown_and_answered() -> None:
    with ModuleComputer() as computer:
        assert "No module is staged." in computer.command("modules", "staged").stderr
        source = write_module(computer.folder / "books", "books", more="permissions: {read: [Books/**]}\n")
        headers = {"authorization": f"Bearer {CliToken(computer.home.root).obtain()}"}
        url = f"{computer.url}/api/modules/staged"
        made = httpx2.post(url, json={"source": str(source)}, headers=headers, timeout=60, **PLAIN).json()

        def listed() -> list[dict[str, str]]:
            found: list[dict[str, str]] = json.loads(computer.command("modules", "staged", "--json").stdout)
            return found

        computer.wait_until(lambda: listed()[0]["status"] == "waiting", "it has been fetched")
        assert made["id"] in computer.command("modules", "staged").stdout
        shown = computer.command("modules", "staged", made["id"])
        assert "Read: Books/**" in shown.stdout
        (item,) = json.loads(computer.command("inbox", "--json").stdout)["items"]
        assert computer.command("inbox", "answer", item["id"], "approve", "--yes").returncode == 0
        assert computer.module("books")["state"] == "ready"
