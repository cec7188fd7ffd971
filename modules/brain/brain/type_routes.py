"""HTTP: types of entities, and searches that the user has kept."""

import secrets
from typing import Any

from parachute.core import Conflict, InvalidInput, NotFound, route

from . import found, shapes
from .parts import Part

_MOST_QUERIES, _LONGEST_NAME, _MOST_FILTERS = 500, 200, 50
_QUERY = "query/"


class TypeRoutes(Part):
    """Routes below /api/brain."""

    @route("GET", "/types")
    async def types_route(self) -> Any:
        """All types."""
        return await self.listed_types()

    @route("GET", "/schemas")
    async def schemas_route(self) -> Any:
        """All types with their fields by name."""
        return {"schemas": [shapes.schema(kind) for kind in (await self.brain.types.all()).values()]}

    @route("POST", "/types")
    async def create_type_route(
        self,
        name: str,
        fields: list[Any] | dict[str, Any] | None = None,
        key_strategy: str | None = None,
        description: str | None = None,
        icon: str | None = None,
        folder: str | None = None,
    ) -> Any:
        """Add a type."""
        rest = {"key_strategy": key_strategy, "description": description, "icon": icon, "folder": folder}
        kind = await self.brain.create_type(name, shapes.type_value(fields, rest))
        return {"success": True, **shapes.type_v2(kind, 0)}

    @route("PUT", "/types/{name}")
    async def change_type_route(
        self,
        name: str,
        fields: list[Any] | dict[str, Any] | None = None,
        key_strategy: str | None = None,
        description: str | None = None,
        icon: str | None = None,
    ) -> Any:
        """Change what is given of a type."""
        rest = {"key_strategy": key_strategy, "description": description, "icon": icon}
        kind = await self.brain.change_type(name, shapes.type_value(fields, rest))
        counts = await self.brain.ask(found.counts)
        return {"success": True, **shapes.type_v2(kind, counts.get(kind.name, 0))}

    @route("DELETE", "/types/{name}")
    async def remove_type_route(self, name: str) -> Any:
        """Remove a type that nothing is of."""
        return {"success": True, "deleted": await self.brain.remove_type(name)}

    @route("GET", "/queries")
    async def queries_route(self) -> Any:
        """Searches that were kept."""
        keys = await self.core.storage.keys(_QUERY)
        return {"queries": [value for key in keys if (value := await self.core.storage.get(key)) is not None]}

    @route("POST", "/queries")
    async def keep_query(self, name: str, entity_type: str, filters: list[dict[str, Any]] | None = None) -> Any:
        """Keep a search."""
        if not name.strip() or len(name) > _LONGEST_NAME:
            raise InvalidInput(f"name: 1 to {_LONGEST_NAME} characters are allowed.", key="query_name_length")
        kept = [_filter(entry) for entry in filters or []]
        if len(kept) > _MOST_FILTERS:
            raise InvalidInput(f"filters: up to {_MOST_FILTERS} are allowed.", key="too_many_filters")
        if len(await self.core.storage.keys(_QUERY)) >= _MOST_QUERIES:
            raise Conflict(f"{_MOST_QUERIES} searches are kept already.", "Remove one first.", key="too_many_queries")
        id = secrets.token_hex(8)
        value = {"id": id, "name": name.strip(), "entity_type": entity_type[:_LONGEST_NAME], "filters": kept}
        await self.core.storage.set(f"{_QUERY}{id}", value)
        return value

    @route("DELETE", "/queries/{id}")
    async def remove_query(self, id: str) -> Any:
        """Remove a search."""
        if not await self.core.storage.delete(f"{_QUERY}{id[:100]}"):
            raise NotFound(f"There is no search {id[:80]}.", key="no_such_query")
        return {"success": True, "id": id}


def _filter(entry: dict[str, Any]) -> dict[str, Any]:
    name, operator = entry.get("field_name"), entry.get("operator")
    if not isinstance(name, str) or not isinstance(operator, str) or len(name) + len(operator) > _LONGEST_NAME:
        raise InvalidInput("filters: each needs a field_name, an operator and a value.", key="invalid_filter")
    return {"field_name": name, "operator": operator, "value": entry.get("value")}
