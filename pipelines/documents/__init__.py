"""From bytes to text, or to a named failure."""
