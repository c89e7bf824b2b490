"""How text is cut and folded: terms, sentences, white space. Pure functions of their arguments."""
