"""What book and exercises share: data, training, decoding, metrics, plots, explorers."""
