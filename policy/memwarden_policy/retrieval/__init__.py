"""Search: how text becomes lexemes, a question becomes a query, and rows become ranked hits. Values in, values out."""
