"""Who computes what: in-process counts, the local worker pool, campaigns."""
