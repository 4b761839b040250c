"""Figures: charts, diagrams of mechanisms, and the shared colours and fonts."""
