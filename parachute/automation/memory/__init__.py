"""What is remembered of conversations: written at once where the owner alone has spoken, and otherwise once they have seen it."""
