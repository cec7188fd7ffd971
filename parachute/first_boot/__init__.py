"""Setting up a new computer: the first key, where it is shown, and when it is over."""
