"""`limes doctor`: checks everything that a running Limes needs, changes nothing, and says how to fix what is wrong."""
