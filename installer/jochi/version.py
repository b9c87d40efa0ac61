"""The version of Jochi: what install writes into the database, and what it is compared with."""

__version__ = "0.1.0"
