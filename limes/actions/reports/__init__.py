"""What the three levels of the hierarchy look like now. Read-only; each report sees one state of the database."""
