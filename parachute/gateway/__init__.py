"""The model gateway: the only way from a sandbox to a model, and the only place that holds the real credential."""
