"""Doors into the computer beside a clone: the wheel, a Debian package, an image for containers, and one of a whole machine. `docs/doors.md` compares them."""
