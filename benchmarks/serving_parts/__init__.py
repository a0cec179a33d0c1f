"""Parts of the benchmark of a server's workers."""
