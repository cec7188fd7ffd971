"""Versions of a file that two devices made apart from each other, until their owner decides."""
