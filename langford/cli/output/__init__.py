"""What commands print: answers, tables, progress and formats, safe on any terminal."""
