"""What desugared code calls while it runs: operators, indexing, numbers and structures that differ between members."""
