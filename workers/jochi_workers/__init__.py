"""What a database can't do: token counts, content hashes, embeddings. `jochi worker` runs it."""
