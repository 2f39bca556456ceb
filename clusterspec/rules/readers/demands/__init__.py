"""What texts demand of a design, and the values of the design that a demand bounds."""
