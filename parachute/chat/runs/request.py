"""The body of `POST /api/chat` (contract, section 3)."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic.alias_generators import to_camel

from parachute.chat.runs.taken import MessageKey
from parachute.security.trust_levels import TrustLevel, normalize_trust_level
from parachute.web.http.integers import Count

MAXIMUM_MESSAGE = 100_000
MAXIMUM_ATTACHMENTS = 20
_TITLE = 60

AttachmentType = Literal["image", "pdf", "text", "code", "archive", "audio", "video", "unknown"]


def _session_or_new(value: str) -> str:
    if value != "new" and not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", value):
        raise ValueError("expected `new` or the id of a session")
    return value


def _no_null(value: str) -> str:
    if "\0" in value:
        raise ValueError("must not contain a null character")
    return value


PathText = Annotated[str, Field(max_length=4096), AfterValidator(_no_null)]


class _Request(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore", strict=True)


class Attachment(_Request):
    """A file that came with a message."""

    id: str = Field(default="", max_length=200)
    file_name: Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_no_null)]
    mime_type: str = Field(default="application/octet-stream", max_length=200)
    size_bytes: Count = 0
    type: AttachmentType = "unknown"
    base64_data: str | None = None


class TurnRequest(_Request):
    """A message with everything that may go with it; unknown fields get a warning only, as old and new apps differ.

    `continued_before` is the message of the conversation `continued_from` from which on nothing of it is taken along.
    With the same `idempotency_key` again it is the same message: its answer is followed, and none begun.
    `can_answer_permissions`: this client shows permission requests and can answer them; the app of the contract cannot.
    """

    model_config = ConfigDict(extra="allow")

    attachments: list[Attachment] = Field(default=[], max_length=MAXIMUM_ATTACHMENTS)
    message: str = Field(max_length=MAXIMUM_MESSAGE)
    session_id: Annotated[str, AfterValidator(_session_or_new)] = "new"
    module: Literal["chat"] = "chat"
    system_prompt: str | None = Field(default=None, max_length=MAXIMUM_MESSAGE)
    initial_context: str | None = Field(default=None, max_length=1_000_000)
    prior_conversation: str | None = Field(default=None, max_length=1_000_000)
    continued_from: str | None = Field(default=None, max_length=64)
    continued_before: str | None = Field(default=None, max_length=100)
    working_directory: PathText | None = None
    contexts: list[PathText] = Field(default=[], max_length=100)
    context_folders: list[PathText] = Field(
        default=[], max_length=100, validation_alias=AliasChoices("contextFolders", "context_folders")
    )
    agent_type: str | None = Field(default=None, max_length=100)
    agent_path: PathText | None = None
    trust_level: str | None = Field(default=None, max_length=40)
    model: str | None = Field(default=None, max_length=100, pattern=r"^[A-Za-z0-9._:/@\[\]-]*$")
    workspace_id: str | None = Field(default=None, max_length=100)
    can_answer_permissions: bool = False
    idempotency_key: MessageKey | None = None

    @field_validator("message")
    @classmethod
    def _says_something(cls, value: str, info: ValidationInfo) -> str:
        """See that there are words or files; files that are wrong have an error of their own."""
        files: list[Attachment] | None = info.data.get("attachments")
        if not value.strip() and files is not None and not any(each.base64_data for each in files):
            raise ValueError("must not be empty")
        return value

    @property
    def level(self) -> TrustLevel | None:
        """The trust level that it asks for, if any; error: InvalidInput for an unknown word."""
        return None if self.trust_level is None else normalize_trust_level(self.trust_level)

    @property
    def chosen_contexts(self) -> list[str]:
        """Folders, and files as older apps name them, that the conversation is told from now on."""
        return [*self.contexts, *self.context_folders]

    @property
    def title(self) -> str:
        """The title of a conversation that begins with this message: its first line, or the name of its first file."""
        lines = (*self.message.splitlines(), *(each.file_name for each in self.attachments))
        first = next((line.strip() for line in lines if line.strip()), "New chat")
        return first if len(first) <= _TITLE else first[: _TITLE - 1].rstrip() + "…"
