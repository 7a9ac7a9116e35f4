"""What is computed from results: summaries, comparisons, and charts described as records that reports draw."""
