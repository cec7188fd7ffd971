"""Modules: manifests, the registry, the process of each, and the server's side of them."""
