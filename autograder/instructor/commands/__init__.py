"""The subcommands of `autograder`, and what they print."""
