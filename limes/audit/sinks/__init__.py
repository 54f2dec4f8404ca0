"""Where audit events go to: one file for each kind of sink. What all of them promise is in `base`."""
