"""Notebook support: sessions, settings, tables, Google Colab."""
