"""Suggestions: modules and their agents propose changes, the user decides (spec 000, "Suggestions System")."""
