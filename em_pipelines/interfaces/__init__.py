"""Interfaces: the doors through which memory is used."""
