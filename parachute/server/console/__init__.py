"""The console: the files of the program that runs in a browser, which `console/` builds; all it does goes through the API."""
