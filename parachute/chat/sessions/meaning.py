"""Conversations in the index of meanings."""

CONVERSATIONS = "conversations"
"""The collection of conversations."""
