"""The learner's interface: check(), its card, the failed case and the time limit."""
