"""Short numerical functions as people write them, run as they are, but for the decorator."""
