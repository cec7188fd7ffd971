"""A thousand hostile texts against a whole server, whose model obeys everything that it reads."""
