"""Fields of an import that the app reads (contract, section 7)."""

from pydantic import BaseModel, ConfigDict


class ImportResult(BaseModel):
    """`POST /api/import`; the members have no capitals here."""

    model_config = ConfigDict(extra="ignore", strict=True)

    total_conversations: int
    imported_count: int
    skipped_count: int = 0
    errors: list[str]
    session_ids: list[str]
