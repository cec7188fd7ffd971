"""Para-ids: stable names for things that modules own (`para:{module}:{12 letters and digits}`)."""
