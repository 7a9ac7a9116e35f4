"""What is computed from results: measures, intervals, paired tests, leaderboards, views of sweeps, charts."""
