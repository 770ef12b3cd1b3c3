"""Revision: each night stale public facts go to a verifier; what it finds is feedback of the next day."""
