"""TLS at home: an authority that signs this computer's own names and nothing else, and the certificates on its port."""
