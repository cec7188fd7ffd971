"""The image of a whole machine: a disk with Debian and the package of it, for a PC that starts by UEFI. docs/image.md tells how it is used."""
