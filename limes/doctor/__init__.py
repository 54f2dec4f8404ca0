"""`limes doctor`: looks at all that a running Limes needs, changes nothing, and says how to mend what is wrong."""
