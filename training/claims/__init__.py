"""Claims of the rules from the conversations of `training/durable`, judged by readers. Nothing is fitted to them."""
