"""Each test runs the module as the computer does."""
