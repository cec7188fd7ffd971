"""Logins at MCP servers elsewhere: OAuth 2.1 with PKCE, each token for one server alone, refreshed by one process."""
