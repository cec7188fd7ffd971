"""The activity of the last hours as a graph: who asked whom, how often, how long it took, and what failed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Edge:
    """Requests from one node to another; times in milliseconds."""

    requests: int = 0
    failures: int = 0
    total_ms: int = 0
    longest_ms: int = 0
    events: dict[str, int] = field(default_factory=dict)


def graph(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Nodes and edges of records: the sum of all edges is the number of records."""
    edges: dict[tuple[str, str], Edge] = {}
    for record in records:
        edge = edges.setdefault((_source(record), _target(record)), Edge())
        duration = record.get("duration_ms")
        duration = duration if isinstance(duration, int) else 0
        edge.requests += 1
        edge.failures += record.get("success") is False
        edge.total_ms += duration
        edge.longest_ms = max(edge.longest_ms, duration)
        kind = str(record.get("event_type"))
        edge.events[kind] = edge.events.get(kind, 0) + 1
    nodes = sorted({name for pair in edges for name in pair})
    return {
        "nodes": [{"id": name, "kind": name.partition(":")[0]} for name in nodes],
        "edges": [
            {
                "from": source,
                "to": target,
                "requests": edge.requests,
                "failures": edge.failures,
                "total_ms": edge.total_ms,
                "longest_ms": edge.longest_ms,
                "events": dict(sorted(edge.events.items())),
            }
            for (source, target), edge in sorted(edges.items())
        ],
        "records": sum(edge.requests for edge in edges.values()),
    }


def _source(record: Mapping[str, Any]) -> str:
    kind, name = str(record.get("source_type")), str(record.get("source_id"))
    if kind == "agent":  # every conversation would be a node of its own
        return f"agent:{record.get('owner') or 'chat'}"
    return f"{kind}:{name}"


def _target(record: Mapping[str, Any]) -> str:
    return f"module:{record.get('target_module')}"
