"""Code that the book and the exercises share: data, models, training, plots, widgets."""
