"""A WordPiece vocabulary of morphemes, and a tokenizer folder that ``AutoTokenizer`` loads."""
