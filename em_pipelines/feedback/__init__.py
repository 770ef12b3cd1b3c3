"""What people say about memory itself: its forms, and what it does to names and facts."""
