"""Which results are trusted: the draw, votes, voters, and the results that wait to be evaluated again."""
