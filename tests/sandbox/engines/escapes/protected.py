"""Files that programs of the user run later in a project, and attempts to change it: `protected.py make|watch FOLDER`, `attacks`."""

import json
import os
import subprocess
import sys
from pathlib import Path

GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PATH": os.environ["PATH"]}
INCLUDES = (["config", "include.path", "../tools/gitconfig"], ["config", "includeIf.onbranch:x.path", "missing"])
PLACEHOLDERS = (b".\n", b"# This file holds a place", b"{}\n")
EXCHANGE = 'import ctypes; ctypes.CDLL(None).renameat2(-100, b".git", -100, b"tools", 2)'


def repository(folder: Path) -> Path:
    """A repository with a commit, a hook, and a folder of hooks that its configuration names."""
    for name, text in {
        ".git/hooks/pre-commit": "#!/bin/sh\ntrue\n",
        ".mcp.json": "{}",
        ".vscode/tasks.json": "{}",
        ".envrc": "true",
        "tools/hooks/post-commit": "",
        "tools/gitconfig": "[include]\npath = more.config\n",
        "packages/a/.vscode/tasks.json": "{}",
        "packages/a/.claude/settings.json": "{}",
        "packages/a/opencode.json": "{}",
        "packages/a/.envrc": "dotenv",
        "packages/a/.env": "A=1",
        "own.code-workspace": "{}",
        ".lefthook.yml": "",
        "notes.md": "a note",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for command in (["init", "-q"], ["config", "core.hooksPath", "tools/hooks"], *INCLUDES, ["add", "notes.md"]):
        subprocess.run(["git", *command], cwd=folder, env=GIT, check=True)
    return folder


ATTACKS = (
    "echo x > .git/hooks/pre-commit",
    "echo x > .git/hooks/post-checkout",
    "echo '[core]' >> .git/config",
    "git config core.fsmonitor ./evil",
    "echo x > .git/config.worktree",
    "mv .git old && mkdir .git",
    "mv .git/hooks .git/old && mkdir .git/hooks",
    "mv .git/config .git/old",
    "rm -rf .git/hooks",
    "ln -f notes.md .git/hooks/link",
    "ln .git/config notes2.md && echo x >> notes2.md",
    "ln -s /project/evil .git/hooks/evil",
    "mkdir evil && cp -r .git/objects .git/refs .git/HEAD evil; touch evil/config; echo ../evil > .git/commondir",
    "mv .git/commondir .git/old",
    "echo '[core]' >> tools/gitconfig",
    "mv tools/gitconfig tools/old",
    "echo '[core]' >> tools/more.config",
    "echo '[core]' >> .git/missing",
    "echo x > .mcp.json",
    "rm .mcp.json",
    "mv .mcp.json old.json",
    "echo x > .claude/settings.json",
    "mv .claude old && mkdir .claude",
    "echo x > .vscode/tasks.json",
    "rm -r .vscode",
    "echo x > .idea/workspace.xml",
    "echo x > .envrc",
    "echo x > tools/hooks/post-commit",
    "mv tools old && mkdir tools",
    "mount --bind /tmp .git/hooks",
    "umount .git/hooks",
    "echo x > packages/a/.vscode/tasks.json",
    "mv packages/a/.vscode old && mkdir packages/a/.vscode",
    "mv packages/a packages/b && mkdir -p packages/a/.claude",
    "mv packages old && mkdir packages",
    "echo x > packages/a/.claude/settings.local.json",
    "rm -f packages/a/opencode.json",
    "echo PATH=. >> packages/a/.env",
    "echo x > own.code-workspace",
    "echo x > .lefthook.yml",
    "echo x > opencode.json",
    "mkdir -p .gemini && echo '{}' > .gemini/settings.json",
    "mkdir -p .codex && echo x > .codex/config.toml",
    "mkdir -p .obsidian/plugins/x && echo x > .obsidian/plugins/x/main.js",
    "mkdir -p .opencode/plugin && echo x > .opencode/plugin/x.js",
    "mkdir -p .hg && echo x > .hg/hgrc",
    "mkdir -p .git/modules/x && echo x > .git/modules/x/config",
    "truncate -s 0 .git/config",
    "sed -i s/core/evil/ .git/config",
    f"python3 -c '{EXCHANGE}'",
    "unshare -rm sh -c 'umount .git/hooks && echo x > .git/hooks/pre-commit'",
)


def watched(project: Path) -> dict[str, bytes]:
    """All that must not change; what only holds the place of a missing file counts as missing."""
    places = [*(".git/hooks", ".claude", ".vscode", ".idea", "tools/hooks"), ".git/config", ".mcp.json", ".envrc"]
    places += ["packages/a", "own.code-workspace", ".lefthook.yml", "opencode.json", ".git/modules", ".hg"]
    places += [".gemini", ".codex", ".obsidian", ".opencode"]
    places += ["tools/gitconfig", "tools/more.config", ".git/missing", ".git/commondir"]
    found = {}
    for place in places:
        path = project / place
        for file in [path] if path.is_file() else sorted(filter(Path.is_file, path.rglob("*"))):
            found[str(file.relative_to(project))] = file.read_bytes()
    return {name: content for name, content in found.items() if not content.startswith(PLACEHOLDERS)}


def main() -> None:
    """Make a repository, or print as JSON what must not change in it; or print the attacks, one a line."""
    if sys.argv[1] == "attacks":
        sys.stdout.write("".join(f"{attack}\n" for attack in ATTACKS))
        return
    folder = Path(sys.argv[2])
    if sys.argv[1] == "make":
        repository(folder)
    json.dump({name: content.decode() for name, content in watched(folder).items()}, sys.stdout)


if __name__ == "__main__":
    main()
