"""The order and the report, in the state directory; the order has the words, and is gone when they are."""

from pathlib import Path
from typing import TypeVar

import msgspec

from parachute.base.errors import Conflict
from parachute.base.files import atomic_write, read_regular
from parachute.ops.forget.models import Order, Report

ORDER, REPORT = "forget.json", "forgotten.json"
_LIMIT = 64 << 20

T = TypeVar("T")


def read_order(home: Path) -> Order | None:
    """The order that is not done; error: Conflict for one that cannot be read."""
    return _read(home / ORDER, Order)


def read_report(home: Path) -> Report | None:
    """The report of the last time; error: Conflict."""
    return _read(home / REPORT, Report)


def write_order(home: Path, order: Order) -> None:
    """Write it down, for good before anything changes. Error: OSError."""
    atomic_write(home / ORDER, msgspec.json.encode(order))


def finish(home: Path, report: Report) -> None:
    """Write the report, and remove the order. Error: OSError."""
    atomic_write(home / REPORT, msgspec.json.encode(report))
    (home / ORDER).unlink(missing_ok=True)


def _read(path: Path, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(read_regular(path, _LIMIT), type=kind)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise Conflict(
            f"{path} cannot be read.", "Remove it, and forget the words again.", key="order_unreadable"
        ) from error
