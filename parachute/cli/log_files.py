"""The ends of the files in `~/.parachute/logs`."""

from pathlib import Path

from parachute.errors import NotFound
from parachute.settings.home import Home

_LIMIT = 4 * 1024 * 1024


def names(home: Home) -> list[str]:
    """The logs that there are, without `.log`."""
    return sorted(path.stem for path in home.logs.glob("*.log") if path.is_file())


def path_of(home: Home, name: str) -> Path:
    """The file of a log; error: NotFound, with the names that there are."""
    known = names(home)
    if name not in known:
        raise NotFound(
            f"There is no log {name!r}.", f"There are: {', '.join(known)}." if known else "Nothing has run yet."
        )
    return home.logs / f"{name}.log"


def size(path: Path) -> int:
    """How many bytes the file has now, 0 if it is not there."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def tail(path: Path, lines: int, since: int = 0) -> list[str]:
    """The last lines of a file, of those behind byte `since`; at most 4 MiB are read."""
    try:
        with path.open("rb") as file:
            end = file.seek(0, 2)
            file.seek(max(min(since, end), end - _LIMIT))
            found = file.read(_LIMIT).decode(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return found[-lines:] if lines > 0 else []
