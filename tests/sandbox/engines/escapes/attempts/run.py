"""Makes every attempt and prints what came of each, as JSON: `run.py PLACE [NAME...]`."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.dont_write_bytecode = True

import files  # noqa: E402, F401 - each fills the table
import kernel  # noqa: E402, F401
import network  # noqa: E402, F401
import processes  # noqa: E402, F401
import tricks  # noqa: E402, F401
from table import TABLE, outcome  # noqa: E402


def main() -> None:
    """Print one JSON object by name, each `[control, outcome]`."""
    place = json.loads(Path(sys.argv[1]).read_text())
    names = sys.argv[2:] or list(TABLE)
    json.dump({name: [TABLE[name].control, outcome(TABLE[name], place)] for name in names}, sys.stdout)


if __name__ == "__main__":
    main()
