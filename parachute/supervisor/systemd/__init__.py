"""Units of systemd's user manager: how they are started, written and hardened."""
