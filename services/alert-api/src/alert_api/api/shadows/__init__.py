"""The view of a shadow beside its rule."""
