"""The offline model: a process of its own that answers the Messages API with a small model."""
