"""Installed modules: installation, approval by hash, the verified copy, updates and removal."""
