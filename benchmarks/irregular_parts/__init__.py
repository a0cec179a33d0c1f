"""Parts of irregular.py: the device that is measured, tables about graphs and trees, a peer, a picture."""
