"""What plugs into nbgrader, or does one of its steps."""
