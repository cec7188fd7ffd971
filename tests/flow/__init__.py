"""What the official modules do together: journal, knowledge and conversations."""
