"""How many tasks are claimed in one go."""

from limes.collector.service_jobs import ClaimQueue


class Tasks:
    """Tasks are numbers; time moves when it is told to."""

    def __init__(self, **options: int) -> None:
        self.now = 0.0
        self.next = 0
        self.claims = []
        self.returned = []
        options = {"workers": 1, "largest": 50, "lease": 100, **options}
        self.queue = ClaimQueue(self.claim, self.returned.extend, monotonic=lambda: self.now, **options)

    def claim(self, limit: int) -> range:
        self.claims.append(limit)
        self.next += limit
        return range(self.next - limit, self.next)

    def work(self, seconds: float, times: int = 1) -> None:
        for _ in range(times):
            assert self.queue.take() is not None
            with self.queue.measure_task():
                self.now += seconds


def test_a_fast_backend_has_large_claims() -> None:
    tasks = Tasks()
    tasks.work(0.01, times=101)
    assert tasks.claims == [1, 50, 50]


def test_a_slow_backend_has_claims_of_one() -> None:
    tasks = Tasks(workers=2)
    tasks.work(20, times=4)
    assert tasks.claims == [1, 1, 1, 1]
    assert tasks.returned == []


def test_what_waits_too_long_is_given_back() -> None:
    tasks = Tasks()
    tasks.work(0.01, times=1)
    tasks.work(0.01, times=1)
    assert tasks.claims == [1, 50]
    tasks.now += 11
    assert tasks.queue.take() == 51
    assert tasks.returned == list(range(2, 51))


def test_what_waits_at_the_end_is_given_back() -> None:
    tasks = Tasks()
    tasks.work(0.01, times=2)
    tasks.queue.close()
    assert tasks.returned == list(range(2, 51))
    assert tasks.queue.take() is None
