"""The image that containers of agents start from: a small Debian, built on this machine without any registry."""
