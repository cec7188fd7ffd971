"""Sandboxes: the engines that confine agents, their image, and the egress proxy."""
