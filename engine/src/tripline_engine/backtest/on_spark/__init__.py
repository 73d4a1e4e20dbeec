"""A backtest over files as a batch job of Spark: the same reader and the same evaluator, in its tasks."""
