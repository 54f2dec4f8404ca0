"""A project's quota, shared out among AZs, for backends in which each AZ has a quota of its own."""

from collections.abc import Mapping


def share_out(quota: int, used: Mapping[str, int]) -> dict[str, int]:
    """To each AZ what is used there, and of the rest the same to each (the first ones get what is left over).

    Where the quota is not enough for what is used, in proportion to it. The shares always sum up to the quota.
    """
    total = sum(used.values())
    if total > quota:
        shares = {az: quota * amount // total for az, amount in used.items()}
    else:
        each = (quota - total) // max(1, len(used))
        shares = {az: amount + each for az, amount in used.items()}
    left = quota - sum(shares.values())
    for az in sorted(shares)[:left]:
        shares[az] += 1
    return shares
