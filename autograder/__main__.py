"""Runs the `autograder` command: `python -m autograder`."""

from autograder.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
