"""Tests in a booted Debian with real systemd: `make appliance`."""
