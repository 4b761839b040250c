"""The place where students' code runs: no verdict is computed here, no answer known."""
