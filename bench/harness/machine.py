"""What the whole machine does meanwhile: processor time, and what goes to the disk."""

from __future__ import annotations

from dataclasses import dataclass

import psutil


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of processor time by all processes, and by the kernel (for them, and for the disk); bytes written."""

    own: float
    kernel: float
    written: int

    @classmethod
    def so_far(cls) -> Spent:
        """Since the machine was started."""
        times, disks = psutil.cpu_times(), psutil.disk_io_counters()
        return cls(times.user + times.nice, times.system, 0 if disks is None else disks.write_bytes)

    def __sub__(self, before: Spent) -> Spent:
        return Spent(self.own - before.own, self.kernel - before.kernel, self.written - before.written)
