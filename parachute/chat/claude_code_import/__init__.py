"""Conversations that the owner has with Claude Code: listing them, and continuing one here."""
