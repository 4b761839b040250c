"""Figures: charts, diagrams of mechanisms, and the one place of colours and fonts."""
