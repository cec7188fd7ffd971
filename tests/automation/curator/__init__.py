"""Reviews of contexts when one that they watch has changed."""
