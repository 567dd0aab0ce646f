# coherence
