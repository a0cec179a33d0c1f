"""Parts of event_graphs.py: a farm and the streams of a GPU, each against its timed event graph."""
