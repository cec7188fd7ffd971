"""The image of the whole computer, for people with Podman, Docker or a NAS: made like that of agents, of Debian's packages."""
