"""Speed, as figures and ratios measured in one run (DESIGN §11). Not tests: `make bench` prints them."""
