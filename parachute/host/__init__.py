"""The process in which one module runs."""
