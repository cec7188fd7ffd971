"""Programs that core has started for it: systemd holds core back, and what it started itself would be held back as well."""
