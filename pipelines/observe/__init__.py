"""What the operator sees: events, statistics, the console."""
