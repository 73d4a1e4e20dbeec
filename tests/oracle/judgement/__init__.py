"""Judgement: micro-batches in order, each transaction under each rule."""
