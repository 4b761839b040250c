"""Models that the course compares with, and what surrounds the students' models."""
