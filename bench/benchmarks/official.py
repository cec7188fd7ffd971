"""The three official modules on a new computer: how long each takes to wake, and what its host needs."""

from collections.abc import Iterator

from bench.official import OfficialComputer
from bench.results import Result

# Of Chat, core alone answers what apps ask; whether it knows an id, the module itself has to say.
_ASKED = {
    "brain": ("/api/brain/types", 200),
    "daily": ("/api/daily/today", 200),
    "chat": ("/api/para/para:chat:a1b2c3d4e5f6", 404),
}


def measure() -> Iterator[Result]:
    """With an empty vault; `brain` and `daily` show the same with full ones."""
    computer = OfficialComputer()
    computer.install(*_ASKED)
    with computer:
        for name, (path, status) in _ASKED.items():
            yield Result(f"official.{name}_cold_start", computer.milliseconds_to_wake(name, path, status), "ms")
            yield Result(f"official.{name}_memory", computer.megabytes_of(name), "MB", 40)
