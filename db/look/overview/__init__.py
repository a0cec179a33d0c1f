"""The overview of a campaign: progress, speed, time left, workers and warnings, which are computed nowhere else."""
