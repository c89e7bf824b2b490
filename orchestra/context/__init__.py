"""WHAT A MODEL SEES: blocks, tokens, budget, assembly, state, archive, recall and the manifest."""
