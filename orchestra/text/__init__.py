"""How text is cut and folded: search terms, sentences, white space."""
