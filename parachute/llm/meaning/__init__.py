"""Search by meaning: the index, a process of its own with the table of words, and the server's side of it."""
