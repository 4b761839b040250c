"""Collects submissions and rosters from learning platforms."""
