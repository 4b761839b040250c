"""What a notebook needs: sessions, settings, tables, Google Colab."""
