"""Updates in the browser: real updates, of which one is refused and one stays and is taken back."""

from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import expect

from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import MINUTES, PHONE
from tests.conftest import needs_bubblewrap
from tests.ops.updates.versions import MIGRATES
from tests.ops.updates.wheels import built, changed
from tests.support.computer import Computer
from tests.support.installation import PLAIN

pytestmark = [pytest.mark.long, needs_bubblewrap]
WHOLE = True


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source of new versions: at first no wheel."""
    path = tmp_path_factory.mktemp("versions") / "parachute_computer-0.1.0-py3-none-any.whl"
    path.write_bytes(b"PK\x03\x04 no archive")
    return path


@pytest.fixture(scope="module")
def settings(source: Path) -> dict[str, Any]:
    """New versions come from there, and are on probation for some seconds."""
    return {"updates": {"source": str(source), "probation_minutes": 0.1}}


def test_one_is_refused_one_stays_and_is_taken_back(
    make_person: MakePerson, computer: Computer, source: Path, tmp_path: Path
) -> None:
    person = make_person(PHONE, bypass_csp=True)
    page = person.open("computer/updates")
    page.get_by_role("button", name="Check and update").click()
    expect(page.get_by_text("is no wheel of this program")).to_be_visible(timeout=MINUTES)
    expect(page.get_by_text("Not updated", exact=True)).to_be_visible()

    source.unlink()
    changed(built(tmp_path), source.parent, MIGRATES)
    page.get_by_role("button", name="Check and update").click()
    expect(page.get_by_text("It ends when it is asked to.")).to_be_visible(timeout=MINUTES)
    expect(page.get_by_text("Installed", exact=True)).to_be_visible(timeout=MINUTES)
    assert httpx2.get(f"{computer.url}/api/health", timeout=60, **PLAIN).json()["version"] == "0.2.0"
    assert violations(page) == []

    # A server that has just started has confirmed nobody.
    person.sign_in()
    page = person.open("computer/updates")
    page.get_by_role("button", name="Go back to the previous version").click()
    page.get_by_role("dialog").get_by_role("button", name="Go back to the previous version").click()
    expect(page.get_by_text("sessions.db is as it was before the update")).to_be_visible(timeout=MINUTES)
    assert httpx2.get(f"{computer.url}/api/health", timeout=60, **PLAIN).json()["version"] == "0.1.0"
    # The server ends in between: what is asked then is asked again.
    person.forgive_refusals()
