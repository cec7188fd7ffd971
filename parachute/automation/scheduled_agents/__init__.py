"""Agents that work once a day: their files, approval, runs and what they write."""
