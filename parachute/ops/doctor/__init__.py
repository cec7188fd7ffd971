"""The doctor: a file for each check of the machine and the installation, and fixes where that is safe."""
