"""Vocabularies: words, subwords and word pieces."""
