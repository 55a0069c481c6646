"""How fast the compiler is and how much memory it takes, as ratios within one run. `python -m benchmarks`."""
