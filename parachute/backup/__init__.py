"""Backups: the vault and, apart from it, the folder of trust, in an encrypted repository that restic keeps."""
