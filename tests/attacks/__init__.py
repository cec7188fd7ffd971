"""Attacks on a computer: each file attacks one thing, and names the row that found it."""
