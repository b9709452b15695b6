"""How long text is: in characters, words, bytes, tokens, or by a function."""
