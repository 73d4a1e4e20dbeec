"""Figures: rates, assessments against bars, tables."""
