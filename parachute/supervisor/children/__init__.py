"""Units as child processes of the supervisor, where there is no systemd."""
