"""The arguments and the environment of the program; an argument that is not known here ends it."""

import json
import os
from pathlib import Path

_FLAGS = frozenset({"--verbose", "--include-partial-messages", "--strict-mcp-config"})
_VALUES = frozenset(
    {
        "--append-system-prompt-file",
        "--input-format",
        "--mcp-config",
        "--model",
        "--output-format",
        "--permission-mode",
        "--permission-prompt-tool",
        "--plugin-dir",
        "--resume",
        "--session-id",
        "--setting-sources",
        "--settings",
        "--system-prompt-file",
        "--system-prompt-snapshot",
        "--thinking",
        "--tools",
    }
)
_DEFAULT_MODEL = "claude-opus-5-5"


class Options:
    """The options of one process; error: ValueError for an unknown one."""

    def __init__(self, arguments: list[str]) -> None:
        values: dict[str, str] = {}
        rest = iter(arguments)
        for argument in rest:
            name, separator, value = argument.partition("=")
            if name in _FLAGS:
                continue
            if name not in _VALUES:
                raise ValueError(f"unknown option '{argument}'")
            values[name] = value if separator else next(rest)
        self.resumes = "--resume" in values
        self.session = values["--resume"] if self.resumes else values["--session-id"]
        self.model = values.get("--model", _DEFAULT_MODEL)
        self.tools = [name for name in values.get("--tools", "").split(",") if name]
        self.servers: list[str] = []
        if "--mcp-config" in values:
            self.servers = list(json.loads(_text_of(values["--mcp-config"]))["mcpServers"])
        self.system = [
            Path(values[name]).read_text(encoding="utf-8")
            for name in ("--system-prompt-file", "--append-system-prompt-file")
            if name in values
        ]
        self.directory = str(Path.cwd())
        self.configuration = Path(os.environ["CLAUDE_CONFIG_DIR"])


def _text_of(value: str) -> str:
    return value if value.lstrip().startswith("{") else Path(value).read_text(encoding="utf-8")
