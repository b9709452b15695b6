"""What text is: lines, graphemes, scripts, sentences."""
