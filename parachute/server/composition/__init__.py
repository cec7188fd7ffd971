"""Composition: a file for each wing that builds its services from those of the wings below and starts them."""
