"""The page on which a new computer is set up from a phone: served to everyone, powerless without a key."""
