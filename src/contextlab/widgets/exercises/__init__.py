"""The exercises of the book: one file a chapter, each with a tuple `EXERCISES`."""
