"""The log of a task server: each line has a kind, words for people and fields for programs."""
