"""The kernel: limits, ladders of boundaries, and the one place that packs pieces into chunks."""
