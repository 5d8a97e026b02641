"""Groups to released values."""
