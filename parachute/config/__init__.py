"""Configuration: settings, what the system declares, and the vault."""
