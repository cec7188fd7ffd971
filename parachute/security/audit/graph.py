"""The activity of the last hours as a graph: who asked whom, how often, how long it took, and what failed."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, Field


class Node(BaseModel):
    """A caller, a module or another part of the computer."""

    id: str
    kind: str


class Edge(BaseModel):
    """Requests from one node to another; times in milliseconds."""

    source: str = Field(serialization_alias="from")
    target: str = Field(serialization_alias="to")
    requests: int = 0
    failures: int = 0
    total_ms: int = 0
    longest_ms: int = 0
    events: dict[str, int] = {}


class Graph(BaseModel):
    """The nodes and edges, and the number of records that they were made of."""

    nodes: list[Node]
    edges: list[Edge]
    records: int


def graph(records: Iterable[Mapping[str, Any]]) -> Graph:
    """Nodes and edges of records: the sum of all edges is the number of records."""
    edges: dict[tuple[str, str], Edge] = {}
    for record in records:
        source, target = _source(record), _target(record)
        edge = edges.setdefault((source, target), Edge(source=source, target=target))
        duration = record.get("duration_ms")
        duration = duration if isinstance(duration, int) else 0
        edge.requests += 1
        edge.failures += record.get("success") is False
        edge.total_ms += duration
        edge.longest_ms = max(edge.longest_ms, duration)
        kind = str(record.get("event_type"))
        edge.events[kind] = edge.events.get(kind, 0) + 1
    nodes = sorted({name for pair in edges for name in pair})
    found = [edge for _, edge in sorted(edges.items())]
    for edge in found:
        edge.events = dict(sorted(edge.events.items()))
    return Graph(
        nodes=[Node(id=name, kind=name.partition(":")[0]) for name in nodes],
        edges=found,
        records=sum(edge.requests for edge in found),
    )


def _source(record: Mapping[str, Any]) -> str:
    kind, name = str(record.get("source_type")), str(record.get("source_id"))
    if kind == "agent":  # every conversation would be a node of its own
        return f"agent:{record.get('owner') or 'chat'}"
    return f"{kind}:{name}"


def _target(record: Mapping[str, Any]) -> str:
    return f"module:{record.get('target_module')}"
