"""git of sandboxes: a service of the egress proxy that adds TLS and the owner's token to what git asks of a repository."""
