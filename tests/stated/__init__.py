"""Numbers that README and the pages of ``docs`` state: where they stand, what made them, and what computes them."""
