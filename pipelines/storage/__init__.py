"""The only importer of fsspec: one small interface to every store."""
