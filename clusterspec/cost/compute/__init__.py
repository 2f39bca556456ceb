"""What the ranks compute: kernels by shape, and how long one layer and one stage of them take."""
