"""Models: the gateway that holds the credential, and the offline model."""
