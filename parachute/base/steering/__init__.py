"""The table of names that steer agents and that other programs obey, and the questions that are asked of it."""
