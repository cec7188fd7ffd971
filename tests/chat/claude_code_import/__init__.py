"""Tests of conversations with Claude Code, and of going on with them."""
