"""What memory would say by itself: probes that close a gap, starters of conversations, and when either is said."""
