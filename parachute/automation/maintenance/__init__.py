"""The maintenance agent, which a person calls: logs without secrets to read, data of the vault to mend."""
