"""Entities as the app reads them: both of its shapes in one document."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from parachute.core import interfaces

from .entity import KNOWN, Entity
from .entity_types import Field, Kind
from .found import Found
from .graph import Edge, Neighbourhood
from .resolving import Candidate
from .search import Hit
from .suggesting import Mentioned


def brief(found: Found) -> dict[str, Any]:
    """An entity without its text; what its file says besides wins over nothing of ours."""
    return {
        **found.fields,
        "@id": found.para_id,
        "@type": found.type,
        "id": found.para_id,
        "para_id": found.para_id,
        "type": found.type,
        "name": found.name,
        "aliases": list(found.aliases),
        "tags": list(found.tags),
        "path": found.path,
        "version": found.version,
        "summary": found.summary,
        **({"problem": found.problem} if found.problem else {}),
    }


def whole(found: Found, entity: Entity) -> dict[str, Any]:
    """An entity as its file is now, with its text."""
    relationships = entity.said.get("relationships")
    return {
        **brief(replace(found, fields=entity.fields, problem=entity.problem)),
        **({"relationships": relationships} if relationships is not None else {}),
        **({"legacy_id": entity.legacy_id} if entity.legacy_id else {}),
        "name": entity.name,
        "aliases": list(entity.aliases),
        "tags": list(entity.tags),
        "version": entity.version,
        "content": entity.text,
    }


def result(found: Found, hit: Hit) -> dict[str, Any]:
    """One result of a search."""
    return brief(found) | {
        "snippet": hit.snippet,
        "score": hit.score,
        "found_by": "meaning" if hit.by_meaning else "words",
    }


def link(edge: Edge, other: Found | None) -> dict[str, Any]:
    """One link of an entity."""
    return {
        "direction": edge.direction,
        "kind": edge.kind,
        "note": edge.note,
        "target": edge.target if other is None else other.name,
        "written": edge.target,
        "para_id": None if other is None else other.para_id,
        "name": None if other is None else other.name,
        "type": None if other is None else other.type,
    }


def neighbourhood(near: Neighbourhood, known: Mapping[int, Found]) -> dict[str, Any]:
    """Entities with their distance, 0 to 2, and the links between them by their para-ids."""
    return {
        "nodes": [
            {"para_id": known[number].para_id, "name": known[number].name, "type": known[number].type, "ring": ring}
            for number, ring in near.rings.items()
            if number in known
        ],
        "links": [
            {"source": known[source].para_id, "target": known[target].para_id, "note": note}
            for (source, target), note in near.lines.items()
            if source in known and target in known
        ],
        "truncated": near.is_cut,
    }


def candidate(found: Found, match: Candidate) -> dict[str, Any]:
    """An entity that a name may mean."""
    return {
        "para_id": found.para_id,
        "name": found.name,
        "type": found.type,
        "path": found.path,
        "confidence": match.confidence,
        "match": match.match,
        "matched": match.text,
    }


def mention(entry: Mentioned, found: Found | None) -> dict[str, Any]:
    """Words of a text that name an entity, or may name a new one."""
    return {
        "text": entry.text,
        "confidence": entry.confidence,
        "para_id": found.para_id if found else None,
        "name": found.name if found else None,
        "type": found.type if found else entry.type,
        "news": entry.news,
    }


def type_v2(kind: Kind, count: int) -> dict[str, Any]:
    """A kind as `GET /types` lists it."""
    return {
        "name": kind.name,
        "icon": kind.icon,
        "folder": kind.folder,
        "description": kind.description,
        "key_strategy": kind.extra.get("key_strategy") or "lexical",
        "entity_count": count,
        "fields": [{"name": entry.name, **_field(entry)} for entry in kind.fields],
    }


def schema(kind: Kind) -> dict[str, Any]:
    """A kind as `GET /schemas` lists it."""
    return {
        "id": kind.name,
        "name": kind.name,
        "icon": kind.icon,
        "folder": kind.folder,
        "description": kind.description,
        "fields": {entry.name: _field(entry) for entry in kind.fields},
        "key_strategy": kind.extra.get("key_strategy") or "lexical",
        "key_fields": kind.extra.get("key_fields") or ["name"],
    }


def _field(field: Field) -> dict[str, Any]:
    """A field without rules is shown as what people write into it, since the app has a form for each type."""
    shown = "array" if field.name in KNOWN and field.name != "type" else "string"
    return field.document() | ({"type": shown, "is_any": True} if field.type == "any" else {})


def interface_entity(
    found: Found, content: str | None = None, snippet: str | None = None, score: float | None = None
) -> interfaces.Entity:
    """An entity as BrainInterface gives it."""
    return interfaces.Entity(
        para_id=found.para_id,
        name=found.name,
        type=found.type,
        aliases=list(found.aliases),
        tags=list(found.tags),
        path=found.path,
        snippet=snippet,
        content=content,
        score=score,
    )


def type_value(fields: Any, rest: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a kind that a request gives."""
    return {name: value for name, value in {"fields": fields, **rest}.items() if value is not None}
