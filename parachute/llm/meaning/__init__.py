"""Search by meaning: the index, a process of its own with the model, and the server's side of it."""
