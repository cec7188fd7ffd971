"""Conversations that the owner has with Claude Code itself: listing them, and going on with one here."""
