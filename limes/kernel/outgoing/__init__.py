"""Requests to other servers: the one place that makes sessions for them, and what holds for each answer."""

from limes.kernel.outgoing.answers import DEFAULT_LIMITS, AnswerLimits
from limes.kernel.outgoing.session import GuardedSession, PinnedSession, TimedAdapter, keystone_session

__all__ = ["DEFAULT_LIMITS", "AnswerLimits", "GuardedSession", "PinnedSession", "TimedAdapter", "keystone_session"]
