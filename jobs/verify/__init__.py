"""What proves a count: recomputed tasks, confirming campaigns, published values, statements and signatures."""
