"""What one task does with its documents, without Beam."""
