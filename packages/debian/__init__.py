"""The Debian package: its files are those of this folder, its units those that `parachute service install` writes."""
