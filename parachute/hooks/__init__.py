"""Commands of the user's own that run when something happens."""
