"""Tests of the library: problems, methods, kernels; needs no ledger."""
