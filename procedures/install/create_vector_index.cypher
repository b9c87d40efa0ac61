// The vector index over the memories' embeddings, named as neomodel expects.
// Parameters: $options map with indexConfig. Returns nothing. Writes: at most one index.
CREATE VECTOR INDEX vector_index_Curated_embedding IF NOT EXISTS FOR (m:Curated) ON (m.embedding) OPTIONS $options
