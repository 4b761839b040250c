"""Runs students' code inside the sandbox; holds no expected values and judges nothing."""
