"""The configuration: strict YAML with places, its records, its fingerprint."""
