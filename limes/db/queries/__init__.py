"""Fixed SQL, one file per noun. Nothing here opens a transaction: that is the use case's business (`limes.actions`)."""
