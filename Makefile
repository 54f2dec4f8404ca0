VENV ?= .venv
BIN := $(VENV)/bin
