"""Imports: what a person brings from elsewhere."""
