"""Preconditions of pages before their first line is typed, such as a disk, a project, or a program of somebody else."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.capabilities.mcp_servers.programs import plain
from tests.capabilities.plugins.building import write_files
from tests.chat.imports.exports import chatgpt_zip, claude_conversation, claude_zip, node, tree
from tests.modules.registry.building import write_module

from .reader import Reader

_BOOKS = """\
settings:
  interval: {type: integer, default: 15}
  password: {type: secret}
"""


def suppose(page: str, reader: Reader) -> None:
    """Make what a page supposes."""
    if page in _SUPPOSED:
        _SUPPOSED[page](reader)


def _a_project(reader: Reader) -> None:
    (reader.home / "Projects/garden").mkdir(parents=True)


def _a_disk_and_a_clone(reader: Reader) -> None:
    (reader.home / "usb").mkdir()
    programs = reader.home / "parachute/.venv/bin"
    programs.mkdir(parents=True)
    (programs / "parachute").symlink_to(reader.program)


def _a_synchronised_vault(reader: Reader) -> None:
    (reader.home / "Dropbox").mkdir()
    reader.run("parachute vault set ~/Dropbox/Parachute --create")


def _a_module_of_somebody(reader: Reader) -> None:
    books = write_module(reader.home / "someone/parachute-books", "books", more=_BOOKS)
    for command in (["init", "-q"], ["add", "--all"], ["commit", "-qm", "first"]):
        _git(books, *command)
    reader.stands_for["https://example.org/"] = f"file://{reader.home}/"
    (reader.home / "password.txt").write_text("a secret of mine\n")


def _mcp_servers(reader: Reader) -> None:
    for name in ("notes", "calendar"):
        program = reader.home / f"mcp/{name}/server.py"
        program.parent.mkdir(parents=True)
        program.write_text(plain('TOOLS.append(tool("find"))'))


def _exports(reader: Reader) -> None:
    downloads = reader.home / "Downloads"
    downloads.mkdir(exist_ok=True)
    talk = tree(
        node("a", None, text="Which kettle whistles?"), node("b", "a", "assistant", "Most of them."), title="Kettles"
    )
    (downloads / "chatgpt.zip").write_bytes(chatgpt_zip(talk))
    (downloads / "claude.zip").write_bytes(claude_zip(claude_conversation()))
    notes = reader.home / "Obsidian/Thoughts"
    (notes / ".obsidian").mkdir(parents=True)
    (notes / ".obsidian/app.json").write_text("{}")
    (notes / "Boats.md").write_text("See [[Kettles]].")


def _a_plugin_of_somebody(reader: Reader) -> None:
    hooks = {
        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/scripts/weather.sh"}]}]
    }
    tides = "name: tides\ndescription: Reads tide tables. Use for questions about tides."
    boat = reader.home / "someone/boat-plugin"
    write_files(
        boat,
        {
            ".claude-plugin/plugin.json": '{"name": "boat", "version": "1.0.0"}',
            "skills/tides/SKILL.md": f"---\n{tides}\n---\nLook them up.\n",
            "commands/trip.md": "---\ndescription: Plans a trip.\n---\nPlan a trip to $ARGUMENTS.\n",
            "hooks/hooks.json": json.dumps({"hooks": hooks}),
            "scripts/weather.sh": "#!/bin/sh\necho Fair.\n",
        },
    )
    for command in (["init", "-q"], ["add", "--all"], ["commit", "-qm", "first"]):
        _git(boat, *command)
    reader.stands_for["https://example.org/"] = f"file://{reader.home}/"


def _git(folder: Path, *command: str) -> None:
    names = ["-c", "user.name=me", "-c", "user.email=me@example.org"]
    subprocess.run(["git", "-C", folder, *names, *command], check=True)


def _a_clone_with_the_tests_of_modules(reader: Reader) -> None:
    programs = reader.home / "parachute/.venv/bin"
    programs.mkdir(parents=True)
    # Not a link: the interpreter finds its environment by where it lies.
    (programs / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (programs / "python").chmod(0o755)


def _nothing_pending(reader: Reader) -> None:
    # Pages before it write into the journal, too.
    for found in json.loads(reader.run("parachute suggestions list --json")):
        reader.run(f"parachute suggestions reject {found['id']}")


_SUPPOSED: dict[str, Callable[[Reader], None]] = {
    "docs/afternoon.md": _a_clone_with_the_tests_of_modules,
    "docs/backup.md": _a_disk_and_a_clone,
    "docs/doctor.md": _a_synchronised_vault,
    "docs/importing.md": _exports,
    "docs/installing-modules.md": _a_module_of_somebody,
    "docs/mcp-servers.md": _mcp_servers,
    "docs/plugins.md": _a_plugin_of_somebody,
    "docs/suggestions.md": _nothing_pending,
    "docs/workspaces.md": _a_project,
}
