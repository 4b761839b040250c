"""`python -m autograder`: the command `autograder`."""

from autograder.command import main

if __name__ == "__main__":
    raise SystemExit(main())
