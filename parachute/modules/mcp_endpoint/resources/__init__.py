"""Resources of MCP: entries of the journal, entities, and files of the vault, each judged before it is shown."""
