"""The computer's name and service on the local network (Avahi)."""
