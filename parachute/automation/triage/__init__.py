"""The agent of the computer itself that sorts suggestions for the user (spec 000)."""
