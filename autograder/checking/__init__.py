"""Provides what a learner calls and sees: check(), its card, the failed case, the time limit."""
