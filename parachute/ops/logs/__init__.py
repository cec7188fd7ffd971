"""Logs of units: their files, and what of them may be read elsewhere."""
