"""Programs of others that the owner lets in at `/mcp`: what each was granted, and its tokens."""
