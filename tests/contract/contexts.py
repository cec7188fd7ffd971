"""Contexts and the preview of a prompt, as the app reads them (contract, section 6)."""

from pydantic import Field

from .dart import Snake
from .stream_events import PromptMetadata


class ContextFolder(Snake):
    """A folder that can be chosen."""

    path: str = ""
    context_file: str = "CLAUDE.md"
    has_agents_md: bool = False
    has_claude_md: bool = False
    display_name: str


class ContextFolders(Snake):
    """`GET /api/contexts/folders`."""

    folders: list[ContextFolder]


class ContextFile(Snake):
    """A file that comes with chosen folders."""

    path: str
    folder_path: str
    level: str = Field("direct", pattern="^(root|parent|direct)$")
    tokens: int = 0
    exists: bool = True


class ContextChain(Snake):
    """`GET /api/contexts/chain`."""

    files: list[ContextFile]
    total_tokens: int = 0
    truncated: bool = False


class ContextSelection(Snake):
    """`GET /api/contexts/session/{id}`."""

    folder_paths: list[str]


class PromptPreview(PromptMetadata):
    """`GET /api/prompt/preview`."""

    prompt: str = ""
    working_directory: str | None = None
