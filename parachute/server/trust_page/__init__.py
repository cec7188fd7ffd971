"""The page that leads through trusting this computer's certificate, before a browser can sign in over TLS."""
