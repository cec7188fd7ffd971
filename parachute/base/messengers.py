"""The messengers that there are: each is a folder of `parachute/connectors/platforms`, which is above most of what names them."""

from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "connectors" / "platforms"

MESSENGERS = tuple(sorted(file.parent.name for file in _FOLDER.glob("*/__init__.py")))
