"""Tests of servers, workers, dashboards and notifications."""
