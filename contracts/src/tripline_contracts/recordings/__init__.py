"""Files of transactions as other systems write them: read row by row, exactly, by a mapping (docs/recordings.md)."""
