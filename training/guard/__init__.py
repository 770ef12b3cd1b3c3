"""The weights by which sentences are left unquoted: the invented sentences that they were fitted to, and how."""
