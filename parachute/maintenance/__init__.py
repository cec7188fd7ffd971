"""The maintenance agent: it sees how this computer does, mends the vault's data, and comes only when a person calls it."""
