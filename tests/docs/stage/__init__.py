"""Machines for a guide about several of them: each is a folder, all are on loopback."""
