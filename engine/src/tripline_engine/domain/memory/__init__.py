"""Arrays that any worker can map, and the kernels that know nothing of transactions."""
