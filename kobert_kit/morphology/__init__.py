"""Lossless morpheme pieces of a text, with offsets into the string that the caller passed."""
