"""The rows that a shard writes, as Spark declares them."""

from __future__ import annotations

from typing import Final

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    StringType,
    StructField,
    StructType,
)

_HEADER: Final = StructType([StructField("key", StringType()), StructField("value", BinaryType())])


OUTPUT_SCHEMA: Final = StructType(
    [
        StructField("topic", StringType()),
        StructField("key", BinaryType()),
        StructField("value", BinaryType()),
        StructField("headers", ArrayType(_HEADER)),
        # the row that carries a shard's counters has these two and no topic
        StructField("shard", IntegerType()),
        StructField("counters", StringType()),
    ]
)
