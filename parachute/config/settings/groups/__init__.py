"""The groups of settings in `config.yaml`, and the kinds of values that they take."""
