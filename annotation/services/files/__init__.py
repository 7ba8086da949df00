"""Annotations in files: import and export.

annotation_lines  what a line may hold, and what it means on its page
importing         import a file of lines, as a job
exporting         W3C Web Annotations, or the lines that an import takes
"""
