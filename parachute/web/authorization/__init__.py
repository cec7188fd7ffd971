"""The authorization server of `/mcp` (OAuth 2.1), whose protocol is that of the library `mcp`."""
