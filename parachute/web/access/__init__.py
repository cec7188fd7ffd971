"""Access: the host, origin and caller of a request, and the capability that its route needs."""
