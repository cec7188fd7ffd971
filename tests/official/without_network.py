"""A computer in a network without any route: what is written is found by what it means (`python -m tests.official.without_network`)."""

import json
import socket
import sys
from pathlib import Path
from typing import Any

from tests.modules.runtime.module_computer import ModuleComputer

KEVIN = "# Kevin Nguyen\n\nKeeps three ships in the harbour and recommends which one to buy.\n"
OTHERS = {
    "maria": "# Maria Rossi\n\nBakes sourdough in a stone oven.\n",
    "ottilie": "# Ottilie Brandt\n\nRepairs church organs and plays them on Sundays.\n",
    "regen": "# Regen Hub\n\nA house for workshops about gardens.\n",
}


def main() -> None:
    """Exit code 0 if everything holds."""
    with socket.socket() as outside:
        try:
            outside.connect(("192.0.2.1", 443))
        except OSError:
            pass
        else:
            raise AssertionError("There is a network here.")
    with ModuleComputer() as house:
        assert house.command("setup", "--yes").returncode == 0
        people = house.vault / "Brain/entities/people"
        people.mkdir(parents=True, exist_ok=True)
        for name, text in {"kevin": KEVIN, **OTHERS}.items():
            (people / f"{name}.md").write_text(text)
        found = house.wait_until(lambda: _first(house), "the question finds Kevin", 120)
        assert (found["name"], found["found_by"]) == ("Kevin Nguyen", "meaning"), found
        assert (house.home.root / "meaning/index.db").stat().st_mode & 0o077 == 0
        assert not list(Path(house.home.root / "meaning").glob("**/making-*"))


def _first(house: ModuleComputer) -> Any:
    done = house.command("brain", "search", "who advises us on boats", "--json")
    results = json.loads(done.stdout or "[]")
    return next((each for each in results if each["name"] == "Kevin Nguyen"), None)


if __name__ == "__main__":
    main()
    sys.exit(0)
