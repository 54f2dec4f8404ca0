"""Copying a running Placement into ours, through the public API of both.

Reading and writing use the same API as clients do; ours is called in this process (`api.LocalApi`). So nothing can be
written that a client could not write, and locks and generations hold, whether servers run on the same database or not.
Only what differs is written (`writer`), so an interrupted copy goes on where it stopped, and a repeated one follows the
source. At the end both sides are read again, by the same code, and compared (`contents.differences`).
"""
