"""Tests of the course, its checks, its grading and its site."""
