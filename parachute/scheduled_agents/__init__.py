"""Agents of modules that work once a day: their files, what runs, what they leave, and how it is asked for."""
