"""Coursework of the book: how a lab is drawn, written, collected, run and marked. docs in labs/README.md.

Read in this order: `draws`, `kit`, `lab`; then `intake`, `inside`, `sandbox`, `marks`, `report`, `course`.
"""
