"""Reports: every result as a document, and the forms a document is written in."""
