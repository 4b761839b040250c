"""Tests that open the built site or JupyterLab in Chromium."""
