"""The same Debian under a kernel of its own, User-Mode Linux: there the limits of control groups really hold."""
