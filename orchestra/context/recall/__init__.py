"""Recall: finding what was said earlier, by words, dates, speakers and (where a model is at hand) meaning."""
