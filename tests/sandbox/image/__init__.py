"""Tests of the agents' image."""
