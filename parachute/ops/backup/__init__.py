"""Backups with restic: copies of databases, restoring, verification and the drill."""
