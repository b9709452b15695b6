"""The job: documents in object storage in, Parquet tables of chunks out."""
