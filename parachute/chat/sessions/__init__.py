"""Sessions: the row of a conversation, its transcript, search, and how far it is trusted."""
