"""kobert-kit: from raw Korean text to a Korean BERT of your own, with an honest KLUE score."""

__version__ = "0.1.0"
