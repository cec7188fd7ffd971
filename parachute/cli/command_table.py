"""The table of commands: their sections, their summaries and their files."""

SECTIONS = {
    "Start here": {
        "setup": "Install the journal, the knowledge base, their chats and imports",
        "start": "Start the computer in the background",
        "stop": "End the computer and everything that it started",
        "restart": "Restart the computer with the current settings and environment, on the same address",
        "status": "Show what runs",
        "doctor": "Look for what is wrong with this computer, also while it is down",
        "logs": "Show the last lines of the logs",
    },
    "Talk": {
        "inbox": "List and answer what waits for you: permissions, questions, suggestions, approvals",
        "chat": "Talk to an agent",
        "ask": "Ask the model once: it has no tools, and nothing is kept",
        "changes": "List the changes of a conversation in your project, and those that wait for you",
        "undo": "Take back what a conversation changed in your project",
        "sessions": "List, search, show, rename, limit, end, archive and delete conversations",
        "contexts": "List and choose the folders whose AGENTS.md a conversation reads, and show which watch which",
        "bots": "Talk to agents from a messenger, and let others in with limited permissions",
        "export": "Export all data into one archive that is readable without this computer",
        "import": "Bring conversations from ChatGPT, Claude and Claude Code, and notes from Obsidian",
        "workspaces": "Give conversations about one project a folder, a model and limits in common",
    },
    "Journal and knowledge": {
        "daily": "Write and read the journal (module Daily)",
        "brain": "Search, write and merge what you know about people and topics (module Brain)",
        "files": "List, read and write the files of your vault, and undo changes",
        "voice": "Turn recordings into text, and show what is missing for it",
        "suggestions": "Review suggestions from modules and agents",
    },
    "Agents and what they may use": {
        "agents": "List, write and approve agents that answer you, or work for other agents",
        "skills": "List, write and approve skills: instructions that agents read when a task needs them",
        "schedule": "List, approve and run scheduled agents",
        "modules": "Install, approve and remove modules",
        "plugins": "Install, approve, update and remove plugins: skills, agents, commands and programs of other people",
        "mcp": "List, approve and try MCP servers: programs that offer tools to agents",
        "hooks": "List, approve and try your own commands for events",
        "prompts": "Approve instruction files for unsandboxed conversations, and show the prompt of the next turn",
        "events": "List events that failed, and deliver them again",
        "network": "Allow and refuse hosts that conversations in a sandbox ask for",
        "git": "Allow repositories that conversations in a sandbox use, and keep the tokens of their hosts",
        "sandbox": "Build and inspect the agents' sandbox",
        "maintenance": "Ask the maintenance agent: it reads logs and code, repairs data, and has no network",
    },
    "Oversight": {
        "audit": "List, follow and verify the audit log",
        "usage": "Show usage and costs by day and subject, and set limits",
    },
    "Stop everything": {
        "panic": "Stop all agents, schedules, hooks and outgoing connections now, also when the API hangs",
        "resume": "Let agents work again after `parachute panic`",
    },
    "This computer": {
        "auth": "Connect Claude or another model, and show which credential is used",
        "config": "Show and change the settings",
        "vault": "Show or choose the folder that holds your data",
        "pair": "Show a code, an address and a QR code that sign one browser in within five minutes",
        "devices": "List the browsers that are signed in, and sign them out",
        "keys": "Make, list and revoke the keys of your other devices",
        "first-boot": "Create the key that sets up a new computer, and show it with its address and a QR code",
        "tls": "Show and renew the certificate for https, and trust it on this machine",
        "backup": "Encrypted backups of the vault and, apart from it, of keys and approvals",
        "update": "Update this computer: the new version is rehearsed on copies, watched, and can be taken back",
        "service": "Run the computer as services of systemd, also after a boot",
        "completion": "Print the completion script for bash, zsh or fish",
        "version": "Show the version",
    },
}
"""The commands by section, each with its summary; the file in `commands/` that has one is imported when it is used."""

FILES = {
    "start": "server",
    "stop": "server",
    "restart": "server",
    "undo": "changes",
    "resume": "panic",
    "version": "completion",
    "import": "import_",
}
"""The files of commands that are not called as their file."""
