"""The table: its files, schemas, snapshots and commit log."""
