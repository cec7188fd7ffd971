"""Conversations: a row that points, and the transcript of the agent's program, which is the truth."""
