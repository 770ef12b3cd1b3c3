"""Storage: bytes on disk; lake, landed log, ledger, locks, digests, what is out of date."""
