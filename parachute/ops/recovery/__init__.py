"""Databases that are damaged, empty or gone: inspection, copies, and the notices about them."""
