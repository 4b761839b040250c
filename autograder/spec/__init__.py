"""What an exercise is: its cases, calls and inputs; what an answer returned."""
