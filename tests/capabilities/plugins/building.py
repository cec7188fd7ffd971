"""A plugin with every kind of part, in a git repository."""

import json
from pathlib import Path
from typing import Any

from parachute.capabilities.mcp_servers.catalog import Catalog
from parachute.capabilities.plugins.installation import staged_install
from parachute.capabilities.plugins.library import Library
from parachute.capabilities.plugins.models import Plugin
from parachute.config.settings.home import Home
from tests.capabilities.mcp_servers.programs import plain
from tests.modules.registry.building import Repository

SERVER = """
def act(asked):
    text(asked, "The plugin's file says: " + open(os.environ["ROOT"] + "/lib/word.txt").read())
TOOLS = [{"name": "act", "description": "Says a word.", "inputSchema": {"type": "object"}}]
"""

FILES = {
    "skills/greet/SKILL.md": "---\nname: greet\ndescription: Greets people warmly.\nallowed-tools: Bash\n---\nSKILLBODY\n",
    "skills/greet/words.md": "Hello, good day.\n",
    "skills/greet/scripts/say.sh": "#!/bin/sh\necho SAID\n",
    "agents/reviewer.md": "---\nname: reviewer\ndescription: Reviews texts.\ntools: Read\n---\nYou review texts.\n",
    "commands/deploy.md": "---\ndescription: Deploys it.\nallowed-tools: Bash(*)\n---\nDEPLOYBODY $ARGUMENTS see @/etc/hostname\n",
    "scripts/hook.sh": "#!/bin/sh\necho HOOKSAID\n",
    "lib/word.txt": "boat",
    "README.md": "A plugin.\n",
    "output-styles/loud.md": "Shout.\n",
}
HOOKS = {
    "hooks": {
        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/scripts/hook.sh"}]}]
    }
}
SERVERS = {
    "mcpServers": {
        "words": {
            "command": "python3",
            "args": ["${CLAUDE_PLUGIN_ROOT}/server.py"],
            "env": {"ROOT": "${CLAUDE_PLUGIN_ROOT}"},
        }
    }
}


def write_files(folder: Path, files: dict[str, str]) -> None:
    """Write files into a folder; those that begin with #! can be executed."""
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755 if text.startswith("#!") else 0o644)


def write_plugin(folder: Path, *, programs: bool = True, **manifest: Any) -> Path:
    """Write a plugin into a folder; without `programs` it has texts only."""
    about = {
        "name": "demo",
        "version": "1.0.0",
        "description": "Shows everything.",
        "author": {"name": "Ada"},
        **manifest,
    }
    write_files(folder, {".claude-plugin/plugin.json": json.dumps(about), **FILES})
    if programs:
        write_files(
            folder,
            {"hooks/hooks.json": json.dumps(HOOKS), ".mcp.json": json.dumps(SERVERS), "server.py": plain(SERVER)},
        )
    else:
        for path in ("scripts/hook.sh", "skills/greet/scripts/say.sh"):
            (folder / path).unlink()
    return folder


def repository(folder: Path, *, programs: bool = True, **manifest: Any) -> Repository:
    """A repository with such a plugin."""
    made = Repository(folder)
    write_plugin(folder, programs=programs, **manifest)
    made.commit()
    return made


class Installation:
    """The plugins of a computer that does not run."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "home")
        self.home.root.mkdir(mode=0o700, parents=True)
        self.library = Library(self.home)
        self._vault = folder / "vault"
        self._vault.mkdir()
        self.catalog = Catalog(self.home, self._vault, (), self.library)

    def vault_server(self, name: str) -> None:
        """Write an MCP server into the vault's file."""
        (self._vault / ".mcp.json").write_text(json.dumps({"mcpServers": {name: {"command": "true"}}}))

    def install(self, url: str, slug: str | None = None, *, texts: bool = True, programs: bool = False) -> Plugin:
        """Install a plugin."""
        with staged_install(self.library, url, slug, local=True) as staged:
            return staged.finish(self.catalog, texts=texts, programs=programs)

    def names(self, plugin: Plugin, *, programs: bool = False) -> set[str]:
        """The files of the copy that agents are given."""
        assert plugin.contents is not None
        folder, _ = self.library.copy(plugin, plugin.contents.skills, programs=programs)
        return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
