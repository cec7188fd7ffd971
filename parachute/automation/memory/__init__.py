"""Memory from conversations: written at once where only the owner has spoken, and otherwise after the owner has seen it."""
