"""The place where students' code runs: no verdict is computed here, and no expected value is known."""
