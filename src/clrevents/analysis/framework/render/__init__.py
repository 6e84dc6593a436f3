"""How answers show themselves: text, HTML and charts of tables and metrics."""
