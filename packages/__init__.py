"""Doors into the computer beside a clone: the wheel, a Debian package, an image for containers. `docs/doors.md` compares them."""
