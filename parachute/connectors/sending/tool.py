"""The tool `send_file` as agents are offered it, and the reading of what they ask."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from parachute.base.errors import InvalidInput
from parachute.security.permissions.models import Access
from parachute.security.permissions.vault_files import vault_path

NAME = "send_file"
PATH = "path"
CAPTION_LIMIT = 1000

DESCRIPTION = "Send a file of your working directory to the chat. It arrives there behind what you have said, and nothing else is sent."
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        PATH: {"type": "string", "description": "Path of the file, in or below your working directory."},
        "caption": {"type": "string", "maxLength": CAPTION_LIMIT, "description": "A sentence that goes with it."},
    },
    "required": [PATH],
    "additionalProperties": False,
}
PROMPT = (
    "This conversation is a chat in {platform}: there people see what you say, and no files of yours. When they want one, put "
    "it into your working directory and send it with the tool `send_file`, at most {megabytes} MB."
)


class Wanted(Struct, frozen=True):
    """A file that is to be sent: `parts` of its path below the working directory."""

    parts: tuple[str, ...]
    caption: str

    @property
    def path(self) -> str:
        """The path below the working directory."""
        return "/".join(self.parts)


def read(arguments: Mapping[str, Any], directory: str) -> Wanted:
    """Read what an agent asks whose working directory this is.

    Errors: InvalidInput for what is not in there, NotAllowed for hidden files and those that may hold secrets.
    """
    path, caption = arguments.get(PATH), arguments.get("caption", "")
    if not isinstance(path, str) or not path.strip():
        raise InvalidInput("path: the path of a file in your working directory is expected.", key="no_path")
    if not isinstance(caption, str) or len(caption) > CAPTION_LIMIT:
        raise InvalidInput(f"caption: a text of at most {CAPTION_LIMIT} characters is expected.", key="wrong_caption")
    below = path.removeprefix(f"{directory.rstrip('/')}/")
    if below.startswith("/"):
        raise InvalidInput(
            f"path: {path[:200]!r} is not in your working directory.", f"Copy it to {directory} first.", key="elsewhere"
        )
    parts = vault_path(below, Access.READ)
    if not parts:
        raise InvalidInput("path: a file is expected, not a folder.", key="no_path")
    return Wanted(parts, caption.encode(errors="replace").decode())
