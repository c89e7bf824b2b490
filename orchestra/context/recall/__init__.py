"""Recall: finding what was said earlier, by words, dates, speakers and (where a model is at hand) meaning."""

from orchestra.context.recall.originals import Recall, chunks_of

__all__ = ["Recall", "chunks_of"]
