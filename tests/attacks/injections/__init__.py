"""Hostile texts on every way into a conversation, and a model that does whatever they say."""
