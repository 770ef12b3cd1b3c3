"""What the weights of lessons are fitted to, and how."""
