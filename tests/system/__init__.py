"""Tests of whole runs in hostile surroundings."""
