"""The curator: the agent of the computer itself that reviews contexts when one that they watch has changed (spec 003)."""
