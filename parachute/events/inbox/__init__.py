"""The inbox: everything that waits for the owner, answered once and from any device."""
