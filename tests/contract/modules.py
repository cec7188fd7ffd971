"""Modules, hooks, the sync of the journal and Brain, as the app reads them (contract, sections 9 to 12)."""

from typing import Any, Literal

from pydantic import AliasChoices, Field

from .dart import Camel, Moment, Number, Snake


class Module(Snake):
    """One module."""

    name: str = "unknown"
    trust_level: str = "direct"


class ModuleList(Snake):
    """`GET /api/modules`."""

    modules: list[Module]


class ModulePrompt(Camel):
    """`GET` and `PUT /api/modules/{name}/prompt`."""

    content: str | None = None
    exists: bool
    default_prompt: str | None = None


class Hook(Snake):
    """One hook."""

    name: str
    events: list[str]
    blocking: bool
    description: str | None = None


class HooksHealth(Snake):
    """Number of hooks that failed lately."""

    recent_errors_count: int


class HookList(Snake):
    """`GET /api/hooks`."""

    hooks: list[Hook]
    health: HooksHealth


class HookError(Snake):
    """A hook that failed."""

    hook: str
    message: str
    timestamp: Moment


class HookErrors(Snake):
    """`GET /api/hooks/errors`."""

    errors: list[HookError]


class SyncFile(Snake):
    """A file that the app compares with its own."""

    path: str
    hash: str = Field(pattern="^[0-9a-f]{64}$")
    size: int
    modified: Number


class SyncManifest(Snake):
    """`GET /api/sync/manifest`."""

    files: list[SyncFile]


class ChangedFile(Snake):
    """A file that changed."""

    path: str


class SyncChanges(Snake):
    """`GET /api/sync/changes`."""

    files: list[ChangedFile]


class Pushed(Snake):
    """`POST /api/sync/push`."""

    pushed: int


class PulledFile(Snake):
    """A file with its content."""

    path: str
    content: str
    is_binary: bool = False


class Pulled(Snake):
    """`POST /api/sync/pull`."""

    files: list[PulledFile]


class Deleted(Snake):
    """`DELETE /api/sync/files`."""

    deleted: int


class SchemaField(Snake):
    """A field of a type of entities."""

    type: str = "string"
    required: bool = False
    description: str | None = None


class Schema(Snake):
    """A type of entities."""

    id: str = Field(validation_alias=AliasChoices("id", "name"))
    name: str
    description: str | None = None
    fields: dict[str, SchemaField]


class SchemaList(Snake):
    """`GET /api/brain/schemas`."""

    schemas: list[Schema]


class Entity(Snake):
    """An entity in a list."""

    id: str = Field(validation_alias=AliasChoices("@id", "id"))
    type: str = Field(validation_alias=AliasChoices("@type", "type"))


class EntityList(Snake):
    """`GET /api/brain/entities/{type}`."""

    results: list[Entity]


class CreatedEntity(Snake):
    """`POST /api/brain/entities`."""

    entity_id: str


class Filter(Snake):
    """A condition of a saved query."""

    field_name: str
    operator: str
    value: Any


class SavedQuery(Snake):
    """A saved query."""

    id: str
    name: str
    entity_type: str
    filters: list[Filter]


class QueryList(Snake):
    """`GET /api/brain/queries`."""

    queries: list[SavedQuery]


class Found(Snake):
    """An entity that was found."""

    para_id: str
    name: str
    tags: list[str]
    content: str | None = None
    snippet: str | None = None
    path: str | None = None


class FoundList(Snake):
    """`GET /api/brain/search`."""

    query: str
    count: int
    results: list[Found]


class StagedModule(Snake):
    """A module that is fetched and shown before it is installed."""

    id: str
    since: Moment
    status: Literal["fetching", "waiting", "failed", "installing", "installed"]
    steps: list[str]
    hash: str | None = None
    consent: dict[str, Any] | None = None
    error: str | None = None
