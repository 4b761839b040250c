"""The exercises of the notebook `seq2seq/cells`: what is called with which inputs."""

from __future__ import annotations

from autograder.exercise import Exercise

EXERCISES: list[Exercise] = []
