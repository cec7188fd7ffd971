"""Data that the existing app reads from the HTTP interface, as models and tests."""
