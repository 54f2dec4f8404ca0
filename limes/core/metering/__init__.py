"""The exact account of what was used and committed: pure functions of times and amounts.

Times are whole seconds since the epoch, and totals are amount-seconds: an amount of 3 for a minute is 180.
"""
