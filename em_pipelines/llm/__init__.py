"""Asking a language model: requests and answers, the store of what was paid for, budgets, breakers, retries."""
