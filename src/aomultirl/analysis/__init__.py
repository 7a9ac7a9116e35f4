"""What is computed from results: measures of runs, intervals, paired tests, leaderboards, views of sweeps."""
