"""Documents in a folder: read, cut into passages, indexed, searched.

The data's way: `folder` (which files) → `reading` and `formats` (text) → `passages` → `store` (kept on disk,
brought up to date by `refresh`) → `queries` and `ranking` → `index` (what the program holds) → `tools` (what
an agent sees).
"""
