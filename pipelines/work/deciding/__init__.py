"""What `work.decide` is made of: one module for each question it answers."""
