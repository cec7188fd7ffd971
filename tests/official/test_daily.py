"""The journal through core, in the process and the sandbox that it has on every computer."""

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.computer import Computer
from tests.support.installation import PLAIN
from tests.support.making import Make

pytestmark = pytest.mark.long

CLIENTS, EACH = 20, 50
DAYS = [f"2025-03-{day:02d}" for day in range(1, 5)]


@pytest.fixture
def house(make_computer: Make[Computer]) -> ModuleComputer:
    computer = make_computer(ModuleComputer)
    assert computer.command("setup", "--yes", "--modules", "daily,brain").returncode == 0
    return computer


def test_a_thousand_entries_of_twenty_clients_at_once(house: ModuleComputer) -> None:
    """None is lost and none merged, in the answers, in the lists, and in the files themselves."""
    # While clients write, Brain finds out who is mentioned, which is written into the same files.
    (house.vault / "Brain/entities/people").mkdir(parents=True, exist_ok=True)
    (house.vault / "Brain/entities/people/kevin.md").write_text("# Kevin\n")
    house.eventually("/api/brain/search?q=kevin", lambda found: found["results"], "Brain knows Kevin")
    together = threading.Barrier(CLIENTS)

    def client(number: int) -> dict[str, str]:
        """Write one entry after the other; their texts by their ids."""
        written: dict[str, str] = {}
        with httpx2.Client(base_url=house.url, **PLAIN, timeout=60) as connection:
            together.wait()
            for each in range(EACH):
                text = f"Tea with Kevin, {number}/{each}." if each % 10 == 0 else f"Entry {number}/{each}."
                body = {"content": text, "date": DAYS[each % len(DAYS)], "idempotency_key": f"{number}/{each}"}
                answer = connection.post("/api/daily/entries", json=body)
                assert answer.status_code == 200, answer.text
                written[answer.json()["id"]] = text
        return written

    with ThreadPoolExecutor(CLIENTS) as clients:
        parts = list(clients.map(client, range(CLIENTS)))
    written = {id: text for part in parts for id, text in part.items()}
    assert len(written) == len(set(written.values())) == CLIENTS * EACH
    found: dict[str, str] = {}
    for day in DAYS:
        entries = house.value(f"/api/daily/entries?date={day}&limit=1000")["entries"]
        found |= {entry["id"]: entry["content"] for entry in entries}
        text = (house.vault / f"Daily/journals/{day}.md").read_text()
        assert text.count("# para:daily:") == len(entries) == CLIENTS * len(range(DAYS.index(day), EACH, len(DAYS)))
    assert found == written
    assert house.value("/api/daily/problems") == {"problems": []}
