"""The only importer of Apache Beam: thin transforms over the functions of `work`."""
