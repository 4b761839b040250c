"""Runs answers on cases, with forbidden operators disabled."""
