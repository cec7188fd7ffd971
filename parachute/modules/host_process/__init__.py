"""The process in which one module runs: confinement, verification, its application."""
