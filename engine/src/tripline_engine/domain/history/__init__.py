"""The retained transactions of an anchor, column by column."""
