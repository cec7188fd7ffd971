"""API keys, their scopes, and who a caller is."""
