"""The image of a whole machine, booted: outside CI, `make board` after `make image BOARD=pc`."""
