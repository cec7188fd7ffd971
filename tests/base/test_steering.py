"""The table of what steers agents and what other programs obey, against a catalogue of programs and the names that they read."""

from datetime import date
from pathlib import PurePath

from parachute.base.steering.judging import (
    holds_obeyed,
    is_no_project,
    is_obeyed,
    is_told,
    is_told_in_project,
    is_told_in_vault,
)
from parachute.base.steering.names import REVIEWED

OBEYED = {
    "aider": ".aider.conf.yml .aider.model.settings.yml",
    "Amazon Q": ".amazonq/rules/x.md",
    "Amp": ".amp/settings.json",
    "Antigravity": ".agent/rules/x.md",
    "asdf and mise": "mise.toml .mise.toml mise.local.toml .mise.local.toml .mise/config.toml .config/mise/config.toml",
    "Augment": ".augment/rules/x.md",
    "autoenv": ".autoenv .autoenv.zsh .autoenv_leave.zsh",
    "bash and zsh": ".bashrc .bash_profile .profile .zshrc .zshenv .zlogout",
    "Claude Code": ".claude/settings.json .mcp.json sub/.claude/hooks/x",
    "Cline": ".cline/mcp.json",
    "Codex": ".codex/config.toml",
    "Continue": ".continue/config.yaml",
    "Copilot": ".github/hooks/x.json sub/.github/hooks/x.json",
    "Crush": "crush.json .crush.json .crush/x",
    "Cursor": ".cursor/mcp.json .cursor/rules/x.mdc",
    "dev containers": ".devcontainer/devcontainer.json .devcontainer.json",
    "direnv": ".envrc sub/.envrc",
    "Emacs": ".dir-locals.el .dir-locals-2.el .emacs.desktop",
    "Factory": ".factory/mcp.json",
    "gdb and lldb": ".gdbinit .lldbinit",
    "Gemini": ".gemini/settings.json",
    "git": ".git/hooks/x .githooks/x .gitmodules sub/.gitmodules",
    "Goose": ".goose/x",
    "Helix": ".helix/languages.toml",
    "husky": ".husky/pre-commit .huskyrc",
    "JetBrains": ".idea/runConfigurations/x.xml .fleet/run.json .junie/mcp/mcp.json .aiassistant/rules/x.md",
    "Kilo Code": ".kilocode/mcp.json",
    "Kiro": ".kiro/hooks/x",
    "lefthook": "lefthook.yml lefthook.toml .lefthook.yaml .lefthook.json lefthook-local.yml .config/lefthook.yml",
    "Mercurial, Jujutsu, Sapling": ".hg/hgrc .jj/config.toml .sl/config",
    "Obsidian": ".obsidian/plugins/x/main.js",
    "OpenCode": "opencode.json opencode.jsonc .opencode/plugin/x.ts",
    "overcommit, pre-commit, prek": ".overcommit.yml .pre-commit-config.yaml prek.toml",
    "Pi": ".pi/extensions/x.ts",
    "Qwen": ".qwen/settings.json",
    "Roo": ".roo/mcp.json",
    "Sublime Text": "x.sublime-project",
    "Trae": ".trae/mcp.json",
    "Vim and Neovim": ".vimrc .exrc .nvimrc .nvim.lua .lvimrc .nvim/init.lua",
    "Visual Studio and Code": ".vs/tasks.vs.json .vscode/tasks.json x.code-workspace",
    "Windsurf": ".windsurf/mcp.json",
    "Zed": ".zed/settings.json",
}
TOLD = {
    "everybody": "AGENTS.md AGENT.md AGENTS.override.md sub/agents.MD SKILL.md",
    "aider": "CONVENTIONS.md .aiderules",
    "Claude Code": "CLAUDE.md CLAUDE.local.md",
    "Cline": ".clinerules .clinerules/x.md",
    "Copilot": ".github/copilot-instructions.md .github/agents/x.md .github/prompts/x.md .github/instructions/x.md",
    "Crush": "CRUSH.md CRUSH.local.md",
    "Cursor, Windsurf, Zed": ".cursorrules .windsurfrules .rules",
    "Gemini, Qwen, Warp": "GEMINI.md QWEN.md WARP.md",
    "Goose": ".goosehints",
    "Roo and Kilo Code": ".roomodes .kilocodemodes",
}
HARMLESS = (
    *(
        "README.md",
        "Makefile",
        "package.json",
        "src/agents.py",
        "agents/a.py",
        "notes/prompt.md",
        "hooks/x",
        ".gitignore",
    ),
    *(
        "config/mise.md",
        ".github/workflows/x.yml",
        ".env",
        "flake.nix",
        ".config/other",
        "lefthook",
        "memory.md",
        ".gitkeep",
    ),
)


def _names(catalogue: dict[str, str]) -> list[tuple[str, str]]:
    return [(program, name) for program, names in catalogue.items() for name in names.split()]


def test_every_name_of_the_catalogue_is_in_the_table_and_nothing_harmless() -> None:
    assert [each for each in _names(OBEYED) if not holds_obeyed(each[1]) or not holds_obeyed(each[1].upper())] == []
    assert [each for each in _names(TOLD) if not is_told(each[1]) or not is_told(each[1].upper())] == []
    assert [name for name in HARMLESS if holds_obeyed(name) or is_told_in_project(name)] == []
    assert date(2026, 1, 1) < REVIEWED


def test_what_direnv_reads_is_obeyed_beside_what_the_owner_has_allowed() -> None:
    assert not is_obeyed(".env", (".env",))
    assert is_obeyed(".ENV", (".env", ".EnvRC"))


def test_agents_of_this_computer_are_told_more_in_the_vault() -> None:
    told = (
        "Chat/prompt.md",
        "daily/Prompt.md",
        "agents/a.md",
        "Chat/contexts/x/y.md",
        "parachute/memory.md",
        "a/GEMINI.md",
    )
    assert [
        path for path in told if not is_told_in_vault(path) or not is_told_in_vault(path.replace(".md", ".\u200bmd"))
    ] == []
    assert not any(
        map(is_told_in_vault, ("prompt.md", "Notes/a/prompt.md", "Chat/recordings/x.ogg", "Daily/agents/x.md"))
    )
    # An agent may have a module's folder as its project.
    assert is_told_in_project("prompt.md")
    assert [is_no_project(PurePath(path)) for path in ("Chat/x", "AGENTS/x", "parachute", "Projects/agents", ".")] == [
        *(True, True, True, False, False)
    ]
