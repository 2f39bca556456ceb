"""Results that texts state of their own figures: sums, products, shares and times, and what they should be."""
