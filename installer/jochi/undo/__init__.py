"""The way back: undo of runs, restored, unmerged and decompressed memories."""
