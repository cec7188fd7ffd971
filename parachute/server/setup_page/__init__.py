"""The page on which a new computer is set up from a phone: served to everyone, powerless without the set-up key."""
