"""What an instructor reads about a graded class."""
