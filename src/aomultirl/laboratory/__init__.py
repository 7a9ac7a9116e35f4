"""The paper's lower bounds, and what they rest on, checked by experiment; one module for each group of claims."""
