"""The independent check of released tables; `shoal.pipeline.verify_files` holds the functions."""
