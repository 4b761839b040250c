"""Explorers: interactive figures that run in the static page, with no kernel and no server."""

from coursekit.explorers.alignment import AlignmentExplorer

__all__ = ["AlignmentExplorer"]
