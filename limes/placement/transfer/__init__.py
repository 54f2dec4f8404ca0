"""Copying a running Placement into ours, through the public API of both.

Reading and writing go through the same API that clients use, ours called in this process (`api.LocalApi`): so nothing
can be written that a client could not write, under the same locks and generations, while servers run on the same
database or not. What is written is what differs (`writer`), so a copy that was interrupted goes on where it stopped,
and one that is repeated follows the source. At last both are read again, by the same code, and compared (`verify`).
"""
