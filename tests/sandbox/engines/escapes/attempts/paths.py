"""Paths of a person's secrets."""

SECRETS = {
    "the keys": ".parachute/keys.yaml",
    "the configuration": ".parachute/config.yaml",
    "the credentials": ".parachute/credentials.json",
    "which modules are trusted": ".parachute/modules.yaml",
    "what was granted": ".parachute/trust.db",
    "the command line's token": ".parachute/cli.token",
    "tokens of bots": ".parachute/bot-tokens.json",
    "which strangers were let in": ".parachute/messengers.db",
    "tokens of git hosts": ".parachute/git-tokens.json",
    "secrets of MCP servers": ".parachute/mcp-secrets.json",
    "logins at MCP servers": ".parachute/mcp-logins.json",
    "hooks of the owner": ".parachute/hooks.yaml",
    "a log": ".parachute/logs/planted.log",
    "the specification of a sandbox": ".parachute/sandboxes/planted.json",
    "a key of ssh": ".ssh/id_ed25519",
    "the login of the agent's program": ".claude/.credentials.json",
    "a key of a cloud": ".aws/credentials",
    "a token of a forge": ".config/gh/hosts.yml",
    "passwords of hosts": ".netrc",
    "the history of a shell": ".bash_history",
    "a file of the home": "Documents/letter.txt",
    "the index of sessions": "Parachute/.parachute/planted.db",
    "an attachment of another session": "Parachute/.parachute/attachments/other/picture",
    "a transcript of another session": "Parachute/.claude/projects/-scratch-other/transcript.jsonl",
    "a setting of MCP servers": "Parachute/.mcp.json",
    "the code of a module": "Parachute/.modules/planted/module.py",
    "a file among the skills of the owner": "Parachute/.skills/planted.txt",
    "a hidden folder of the vault": "Parachute/.hidden/secret",
    "a file beside the vault's folders": "Parachute/.env",
}
"""Below the home of the machine's user."""

READ_BY_CORE = (
    ".claude/.credentials.json",
    ".parachute/cli.token",
    ".parachute/credentials.json",
    ".parachute/hooks.yaml",
    ".parachute/keys.yaml",
    ".parachute/mcp-secrets.json",
    ".parachute/modules.yaml",
    "Parachute/.mcp.json",
)
"""Attempts that a running computer would not do without a word."""
