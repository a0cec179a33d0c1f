"""What is known of a campaign, and computed from it."""
