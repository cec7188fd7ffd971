"""The table: names that programs obey, and names that agents are told, in small letters; a name that is not here is data.

It is looked through when a program is added and at least once a year: `REVIEWED` is the day on which that was done last, and
tests/base/test_steering.py has the catalogue of programs that it was compared with.
"""

from datetime import date

REVIEWED = date(2026, 11, 28)

REPOSITORY = ".git"

FOLDERS = (
    # Editors: settings, tasks and language servers of a project.
    *(".fleet", ".helix", ".idea", ".nova", ".obsidian", ".theia", ".vs", ".vscode", ".zed"),
    # Agents: rules, commands, hooks and MCP servers of a project.
    *(".aiassistant", ".amazonq", ".amp", ".augment", ".claude", ".cline", ".codex", ".continue", ".copilot", ".crush"),
    *(".cursor", ".factory", ".gemini", ".goose", ".iflow", ".junie", ".kilo", ".kilocode", ".kiro", ".opencode"),
    *(".openhands", ".pi", ".qwen", ".roo", ".trae", ".vibe", ".windsurf"),
    # Containers that an editor starts, and other version control than git.
    *(".devcontainer", ".hg", ".jj", ".sl"),
)
"""Folders that programs read as soon as they open a project; in a project without one something holds its place."""

FILES = {
    ".crush.json": b"{}\n",
    ".mcp.json": b'{"mcpServers": {}}\n',
    "crush.json": b"{}\n",
    "opencode.json": b"{}\n",
}
"""The same, with what holds the place of a missing one."""

PRESENT_ONLY = (
    # Shells, where a project is a home.
    *(".bash_aliases", ".bash_login", ".bash_logout", ".bash_profile", ".bashrc", ".kshrc", ".profile"),
    *(".zlogin", ".zlogout", ".zprofile", ".zshenv", ".zshrc"),
    # What sets an environment up when a folder is entered.
    *(".autoenv", ".autoenv.zsh", ".autoenv_leave.zsh", ".envrc", ".mise", ".mise.toml", ".rtx.toml", ".shadowenv.d"),
    "mise.toml",
    # Editors and debuggers.
    *(".dir-locals-2.el", ".dir-locals.el", ".emacs.desktop", ".exrc", ".gdbinit", ".gvimrc", ".kateproject"),
    *(".lldbinit", ".local.vimrc", ".lvimrc", ".nvim", ".nvim.lua", ".nvimrc", ".vimrc", ".ycm_extra_conf.py"),
    *(".devcontainer.json", ".gitpod.yml"),
    # git: hooks that were installed once run what these name from then on, and submodules are fetched from where one says.
    *(".githooks", ".gitmodules", ".husky", ".huskyrc", ".huskyrc.json", ".overcommit.yml", ".pre-commit-config.yaml"),
    *(".pre-commit-config.yml", "prek.toml"),
    # Agents.
    *(".agent", ".agents", ".claude-plugin", ".mcpb", "crush.jsonc", "firebender.json", "opencode.jsonc"),
)
"""Names that are obeyed only where they exist already: in a home, or after the user has named or allowed it."""

PATTERNS = (
    ".aider*",
    "*.code-workspace",
    "*.sublime-project",
    "lefthook*.[jty]*",
    ".lefthook*.[jty]*",
    "mise.*.toml",
    ".mise.*.toml",
)
"""The same for all names that fit one of these."""

BELOW = {
    ".config": ("lefthook*", "mise", "mise.*", "nvim"),
    ".github": ("hooks",),
}
"""The same in a folder of this name alone."""

TOLD = (
    *("agent.md", "agents.md", "agents.override.md", "claude.md", "claude.local.md"),
    *("conventions.md", "copilot-instructions.md", "crush.local.md", "crush.md", "gemini.md", "iflow.md", "qwen.md"),
    *("skill.md", "warp.md"),
    *(".aiderules", ".augment-guidelines", ".clinerules", ".continuerules", ".cursorrules", ".goosehints"),
    *(".kilocodemodes", ".kilocoderules", ".roomodes", ".roorules", ".rules", ".windsurfrules"),
)
"""Files and folders that agents are told, or read as instructions, wherever they lie."""

TOLD_BELOW = {".github": ("agents", "chatmodes", "instructions", "prompts", "skills")}
"""The same in a folder of this name alone."""

IN_THE_VAULT = ("agents", "chat/contexts", "parachute/memory.md")
"""Places of the vault that agents of this computer are told from: agents, contexts and memory."""

MODULE_PROMPT = "prompt.md"
"""In a module's folder of the vault: it replaces the module's own prompt."""
