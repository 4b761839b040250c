"""Plugins for nbgrader, and replacements for some of its steps."""
