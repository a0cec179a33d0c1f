"""What the searches can count: rows of at most two machine words, and differences that fit into one."""

WORD_PLACES, MAX_PLACES, MAX_DIFFERENCE = 64, 128, 63
