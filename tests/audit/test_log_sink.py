"""The audit's sink `log`."""

from pathlib import Path

import pytest

from limes.audit.sinks import LogSink, OutgoingEvent

EVENTS = [OutgoingEvent(7, "berlin", "id-7", '{"n":7}'), OutgoingEvent(8, "paris", "id-8", '{"n":8}')]


def test_one_line_an_event(tmp_path: Path) -> None:
    sink = LogSink(tmp_path / "audit.log")
    assert sink.deliver(EVENTS).delivered == [7, 8]
    assert sink.deliver(EVENTS[:1]).delivered == [7]
    assert (tmp_path / "audit.log").read_text() == '{"n":7}\n{"n":8}\n{"n":7}\n'


def test_the_file_may_be_moved_away(tmp_path: Path) -> None:
    sink = LogSink(tmp_path / "audit.log")
    sink.deliver(EVENTS)
    (tmp_path / "audit.log").rename(tmp_path / "audit.log.1")
    sink.deliver(EVENTS[1:])
    assert (tmp_path / "audit.log").read_text() == '{"n":8}\n'


def test_half_a_line_spoils_no_other(tmp_path: Path) -> None:
    (tmp_path / "audit.log").write_text('{"n":6}\n{"n":')
    LogSink(tmp_path / "audit.log").deliver(EVENTS[:1])
    assert (tmp_path / "audit.log").read_text() == '{"n":6}\n{"n":\n{"n":7}\n'


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert LogSink().deliver(EVENTS).delivered == [7, 8]
    assert capfdbinary.readouterr().out == b'{"n":7}\n{"n":8}\n'


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    delivery = LogSink(tmp_path / "nowhere" / "audit.log").deliver(EVENTS)
    assert not delivery.delivered
    assert delivery.error == f"cannot write to {tmp_path}/nowhere/audit.log: No such file or directory"


def test_a_full_disk() -> None:
    delivery = LogSink(Path("/dev/full")).deliver(EVENTS)
    assert (delivery.delivered, delivery.error) == ((), "cannot write to /dev/full: No space left on device")
