"""Training: the loop that all chapters use, checkpoints, metrics and recorded results."""

from coursekit.training.loop import History, device, seed_everything, train

__all__ = ["History", "device", "seed_everything", "train"]
