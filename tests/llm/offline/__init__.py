"""The offline model, as the gateway and the command line program meet it."""
