"""The user's straight-line code: traced on symbolic members, vectorized for the batch, its errors explained."""
