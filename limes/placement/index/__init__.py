"""The process's copy of all providers, brought up to date at each read with one indexed query.

The promise
-----------
`ProviderIndex.current()` returns a `Cloud` with every transaction that was committed before the call began, on any
worker, and maybe later ones. So a read that follows an acknowledged write sees it. The cloud is one consistent state of
the database: never half a transaction.

Why nothing is missed
---------------------
A transaction that changes anything about a provider writes its *stamp* into that provider's `changed` column (or into a
tombstone, when it deletes the provider; `limes.placement.objects.change` is the writers' half of this contract).

On PostgreSQL the stamp is the transaction's number. Numbers are given out in ascending order, but transactions end in
any order, so "all stamps above the highest that I saw" would miss the one that commits late. Instead the index keeps
with each state the *mark*: the number after the newest stamp that it saw (`next`), and which transactions with smaller
numbers were open (`xip` of `pg_current_snapshot()`) in the very snapshot of the poll. Every other transaction with a
smaller number had ended: if it committed, that snapshot saw it, and if it failed, nobody ever will. So whatever became
visible since has `changed >= next` or `changed` in `xip`, and this is what the next poll asks for. It holds for a
transaction that stays open for hours, and such a transaction does not make the polls longer.

Why `next` is not simply the first number not given out (`xmax`): when a process of PostgreSQL crashes, numbers of
transactions that failed, or only read, may be given out again, because nobody needed to write them to disk. A number
that somebody can see as committed was written to disk before, with all smaller ones, so none below `next` comes twice.
(With `synchronous_commit = off` a crash loses commits that were seen, so Placement's database must not have that.)

A provider whose stamp the index already has is skipped. This is right because a stamp belongs to one
transaction, a transaction shows itself whole or not at all, and who writes to a provider holds the lock on its row
until the end: the same stamp is the same state.

A poll is one statement, which has one snapshot. When it finds something, a second poll and the reading of what changed
are done in one REPEATABLE READ transaction: they see one state, and the mark belongs to exactly that state.

On a standby `xip` is not known to be complete. There the mark falls back to `xmin`: everything below had ended.

On SQLite the stamp is a counter that each writing transaction increments, and there is one writer at a time. So stamps
become visible in ascending order, and the next poll asks for `changed` above the counter that was seen.

Starting afresh
---------------
All is read anew when the mark cannot belong to this database: its numbers or the counter went back, the table of
providers was truncated or rewritten (its file changed), or the server was started again (so that a failover or a
restored database is never mixed with what was). The same happens if nobody polled for half the life of a tombstone.
Rows that are deleted by hand while workers run are not noticed; start the workers again after such a repair.

Threads and processes
---------------------
A state is never changed, only replaced, so readers take no lock. Those that find something new queue for one lock, and
poll again once they have it: the second finds that the first has already loaded it. Nothing is held open between calls,
so a process may be forked at any time; the child gets a lock of its own.
"""

from limes.placement.index.index import ProviderIndex

__all__ = ["ProviderIndex"]
