"""The built-in model: no key, no network; it splits questions and answers with verbatim sentences."""
