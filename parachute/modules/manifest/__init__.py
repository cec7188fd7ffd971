"""`manifest.yaml`: its fields, errors with line and field, and what the consent screen shows."""
