"""Recover the hidden factors behind data by contrastive learning."""

__version__ = "0.1.0"
