"""Attacks on a computer: each file attacks one thing, and names the row that found it."""

"""What an attacker does, and what it must not get."""
