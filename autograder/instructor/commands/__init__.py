"""The subcommands of `autograder`, a module for each."""
