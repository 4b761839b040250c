"""From masters to notebooks, reference solutions and known mistakes."""
