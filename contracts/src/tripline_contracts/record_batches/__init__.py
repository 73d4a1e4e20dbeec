"""Kafka's record batches as brokers store them, read with bounded memory.

Every client library unfolds a compressed batch, or a record of it, at once and without a bound: a few kilobytes on disk
may be gigabytes in its memory. Here a batch is fetched as it is stored, unfolded as a stream, and what is too long of a
record is counted and hashed but not kept. Slower than a client library by far: for what an earlier release let in.

    FetchClient ── RecordBatch: header, compressed body ── opened(): a stream ── records(): one after another

Formats: https://kafka.apache.org/documentation/#recordbatch and the Fetch API, version 11, of the protocol guide.
"""
