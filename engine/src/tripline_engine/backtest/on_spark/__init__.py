"""A backtest as a batch job of Spark: the same reading and the same evaluator, in its tasks."""
