"""First boot: the first key, where it is shown, and when set-up is over."""
