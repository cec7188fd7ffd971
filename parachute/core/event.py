"""An event as a handler may ask for it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

EVENT_NAME = re.compile(r"[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)+")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened; the same `id` may arrive more than once. `timestamp` is ISO 8601 in UTC."""

    id: str
    name: str
    data: Mapping[str, Any] = field(default_factory=dict)
    timestamp: str = ""
