"""Prints the table of what the checks make of the bank: `python -m tests.bank`."""

from .judged import table

if __name__ == "__main__":
    print(table())
